package match

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	dashboardPath = "../deploy/grafana/set3d.json"
	alertsPath    = "../deploy/prometheus/alerts.yml"
	// shownBy is what Nakama puts before the names of metrics.
	shownBy = "nakama_custom_"
)

// metricsTable is the table of all metrics as the documentation has it.
func metricsTable() string {
	var table strings.Builder
	table.WriteString("| metric | kind | labels | what |\n|---|---|---|---|\n")
	for _, m := range Metrics() {
		var labels []string
		for _, label := range m.Labels {
			labels = append(labels, "`"+label.Name+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(labels, ", "), m.Help)
	}
	return table.String()
}

// TestMetricsAreDocumented: -run MetricsAreDocumented -update writes the table.
func TestMetricsAreDocumented(t *testing.T) {
	text := readFile(t, settingsDoc)
	before, rest, begins := strings.Cut(text, "<!-- metrics -->\n")
	table, after, ends := strings.Cut(rest, "<!-- end of metrics -->\n")
	if !begins || !ends {
		t.Fatalf("%s has no place for the metrics", settingsDoc)
	}
	if *update {
		text = before + "<!-- metrics -->\n" + metricsTable() + "<!-- end of metrics -->\n" + after
		if err := os.WriteFile(settingsDoc, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != metricsTable() {
		t.Errorf("%s has another table than Metrics(): go test ./match -run MetricsAreDocumented -update", settingsDoc)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct{ Name, Type, Query any }
	}
	Panels []struct {
		ID         int
		Type       string
		Title      string
		GridPos    struct{ X, Y, W, H int }
		Datasource struct{ UID string }
		Targets    []struct {
			Expr       string
			Datasource struct{ UID string }
		}
	}
}

// The dashboard asks for metrics and labels that there are, shows every metric, and leaves it to Grafana where they come from.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(readFile(t, dashboardPath)), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID != "set3d" || len(d.Templating.List) != 2 || d.Templating.List[0].Name != "datasource" || d.Templating.List[0].Type != "datasource" {
		t.Errorf("%s has no variable for the data source: %v", dashboardPath, d.Templating)
	}
	shown, ids := map[string]bool{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q: a number twice, no title, or no place", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			if p.Datasource.UID != "${datasource}" || target.Datasource.UID != "${datasource}" {
				t.Errorf("%s is bound to one data source", p.Title)
			}
			checkQuery(t, p.Title, target.Expr, shown)
		}
	}
	for _, m := range Metrics() {
		if !shown[m.Name] {
			t.Errorf("%s is in no panel", m.Name)
		}
	}
}

// Alerts ask for metrics and labels that there are. What they say is about what they ask.
func TestAlerts(t *testing.T) {
	rules := strings.Split(readFile(t, alertsPath), "- alert: ")[1:]
	if len(rules) < 10 {
		t.Fatalf("%d alerts", len(rules))
	}
	for _, rule := range rules {
		name, rest, _ := strings.Cut(rule, "\n")
		expr, rest, ok := strings.Cut(rest, "for: ")
		if !ok || !regexp.MustCompile(`severity: (critical|warning)\n`).MatchString(rest) || !strings.Contains(rest, "summary: ") || !strings.Contains(rest, "description: ") {
			t.Errorf("%s is not whole", name)
		}
		asked := map[string]bool{}
		checkQuery(t, name, expr, asked)
		if len(asked) == 0 {
			t.Errorf("%s asks for nothing", name)
		}
		for _, setting := range regexp.MustCompile(`SET3D_[A-Z_]+`).FindAllString(rest, -1) {
			if !slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Name == setting }) {
				t.Errorf("%s speaks of %s", name, setting)
			}
		}
	}
}

var (
	askedMetric = regexp.MustCompile(`nakama_[a-z0-9_]+`)
	askedLabels = regexp.MustCompile(`by \(([^)]*)\)`)
)

// checkQuery notes which metrics a query asks for, and whether they have the labels that it goes by.
func checkQuery(t *testing.T, where, expr string, asked map[string]bool) {
	t.Helper()
	known := map[string]bool{"node_name": true}
	for _, name := range askedMetric.FindAllString(expr, -1) {
		short, ours := strings.CutPrefix(name, shownBy)
		i := slices.IndexFunc(Metrics(), func(m Metric) bool { return m.Name == short })
		if !ours || i < 0 {
			t.Errorf("%s asks for %s", where, name)
			continue
		}
		m := Metrics()[i]
		asked[short] = true
		for _, label := range m.Labels {
			known[label.Name] = true
		}
		grows := strings.Contains(expr, "rate(") || strings.Contains(expr, "increase(")
		if grows != (m.Kind == Counter) {
			t.Errorf("%s: %s is a %s", where, name, m.Kind)
		}
	}
	for _, labels := range askedLabels.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(labels[1], ",") {
			if !known[strings.TrimSpace(label)] {
				t.Errorf("%s goes by the label %s", where, label)
			}
		}
	}
}

// A real server shows exactly the metrics of Metrics: SET3D_NAKAMA_METRICS is the address of its metrics.
func TestRealServersMetrics(t *testing.T) {
	address := os.Getenv("SET3D_NAKAMA_METRICS")
	if address == "" {
		t.Skip("SET3D_NAKAMA_METRICS names no server")
	}
	caller := http.Client{Timeout: 10 * time.Second}
	answer, err := caller.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	wanted := wantedSeries()
	seen := map[string]bool{}
	for series := range seriesIn(t, answer.Body) {
		if !wanted[series] {
			t.Errorf("the server has %s", series)
		}
		seen[series] = true
	}
	for series := range wanted {
		if !seen[series] {
			t.Errorf("the server has no %s", series)
		}
	}
}

func wantedSeries() map[string]bool {
	wanted := map[string]bool{}
	for _, m := range Metrics() {
		m.each(map[string]string{}, func(labels map[string]string) { wanted[seriesName(m.Name, labels)] = true })
	}
	return wanted
}

func seriesName(name string, labels map[string]string) string {
	for _, label := range sortedKeys(labels) {
		name += " " + label + "=" + labels[label]
	}
	return name
}

// seriesIn are the series of ours in Prometheus's text format, without the node's label.
func seriesIn(t *testing.T, body io.Reader) map[string]bool {
	t.Helper()
	line, label := regexp.MustCompile(`^nakama_custom_(set3d_\w+)\{(.*)\} \S+$`), regexp.MustCompile(`(\w+)="([^"]*)"`)
	found := map[string]bool{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		match := line.FindStringSubmatch(lines.Text())
		if match == nil {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(match[2], -1) {
			labels[l[1]] = l[2]
		}
		delete(labels, "node_name")
		found[seriesName(match[1], labels)] = true
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
