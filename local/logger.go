package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"
)

// logger writes runtime.Logger's calls to a slog handler, one line each.
type logger struct {
	out    *slog.Logger
	fields map[string]any
}

// NewLogger returns a runtime.Logger that writes text lines of at least the level to w, or to standard error when w is nil.
func NewLogger(w io.Writer, level slog.Leveler) runtime.Logger {
	if w == nil {
		w = os.Stderr
	}
	return NewSlogLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})))
}

// NewSlogLogger returns a runtime.Logger that writes to out.
func NewSlogLogger(out *slog.Logger) runtime.Logger {
	return &logger{out: out, fields: map[string]any{}}
}

func (l *logger) log(level slog.Level, format string, v []any) {
	if !l.out.Enabled(context.Background(), level) {
		return
	}
	msg := format
	if len(v) != 0 {
		msg = fmt.Sprintf(format, v...)
	}
	attrs := make([]slog.Attr, 0, len(l.fields))
	for _, k := range slices.Sorted(maps.Keys(l.fields)) {
		attrs = append(attrs, slog.Any(k, l.fields[k]))
	}
	l.out.LogAttrs(context.Background(), level, msg, attrs...)
}

func (l *logger) Debug(format string, v ...any) { l.log(slog.LevelDebug, format, v) }
func (l *logger) Info(format string, v ...any)  { l.log(slog.LevelInfo, format, v) }
func (l *logger) Warn(format string, v ...any)  { l.log(slog.LevelWarn, format, v) }
func (l *logger) Error(format string, v ...any) { l.log(slog.LevelError, format, v) }

func (l *logger) WithField(key string, v any) runtime.Logger {
	return l.WithFields(map[string]any{key: v})
}

func (l *logger) WithFields(fields map[string]any) runtime.Logger {
	merged := maps.Clone(l.fields)
	maps.Copy(merged, fields)
	return &logger{out: l.out, fields: merged}
}

func (l *logger) Fields() map[string]any { return maps.Clone(l.fields) }

// stdLogger lets the standard library log to a runtime.Logger.
func stdLogger(to runtime.Logger) *log.Logger { return log.New(lineWriter{to}, "", 0) }

type lineWriter struct{ to runtime.Logger }

func (w lineWriter) Write(line []byte) (int, error) {
	w.to.Error("%s", bytes.TrimSpace(line))
	return len(line), nil
}
