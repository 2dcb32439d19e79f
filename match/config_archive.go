package match

import "time"

// durability says when a verdict may be told.
type durability uint8

const (
	// durabilityFast tells a verdict at once. A crash can take back what was judged since the last checkpoint.
	durabilityFast durability = iota
	// durabilitySafe tells a verdict when its checkpoint is stored. It costs a write of the database.
	durabilitySafe
)

func (d durability) String() string { return durabilities()[d] }

// durabilities are the names of the durabilities, in their order.
func durabilities() []string { return []string{"fast", "safe"} }

// archiveConfig is what is kept, and for how long.
type archiveConfig struct {
	durability    durability
	checkpoint    time.Duration
	safeWait      time.Duration
	resumeWithin  time.Duration
	upgradeWithin time.Duration
	recordDays    int
	backlog       int
}

// archiveSettings are the keys about what outlives a match.
func archiveSettings() []Setting {
	return []Setting{
		choice("SET3D_DURABILITY", "fast", durabilities(),
			"fast: a verdict is told at once, and a crash can take back the last SET3D_CHECKPOINT_MS; safe: it is told when it is stored",
			func(c *config, i int) { c.archive.durability = durability(i) }),
		number("SET3D_CHECKPOINT_MS", "1000", 10, 60_000,
			"how long a checkpoint waits so that many are written at once, in ms: what a crash can take back at most, besides the write "+
				"and wrong claims that cost nothing; not used when safe",
			func(c *config, n int) { c.archive.checkpoint = ms(int64(n)) }),
		number("SET3D_SAFE_WAIT_MS", "5000", 100, 60_000,
			"when safe, how long a verdict waits for a database that does not answer before it is told all the same, in ms",
			func(c *config, n int) { c.archive.safeWait = ms(int64(n)) }),
		number("SET3D_RESUME_WITHIN_MS", "3600000", 1_000, 604_800_000,
			"how long players have to come back to a match that a restart has interrupted, in ms; then it ends as abandoned",
			func(c *config, n int) { c.archive.resumeWithin = ms(int64(n)) }),
		number("SET3D_RECORD_DAYS", "90", 0, 36_500,
			"how many days the records of matches and the reports about them are kept; 0: for ever. Results are kept",
			func(c *config, n int) { c.archive.recordDays = n }),
		number("SET3D_UPGRADE_WITHIN_MS", "600000", 1_000, 86_400_000,
			"how long the upgrade of the stored data may take at the start, in ms; if it takes longer the server does not start, and the next "+
				"start begins anew",
			func(c *config, n int) { c.archive.upgradeWithin = ms(int64(n)) }),
		number("SET3D_BACKLOG_MAX", "5000", 1, 1_000_000,
			"with how many finished matches that the database has not taken yet no new tables are opened; what is set aside does not count",
			func(c *config, n int) { c.archive.backlog = n }),
	}
}
