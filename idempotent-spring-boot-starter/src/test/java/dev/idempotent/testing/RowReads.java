package dev.idempotent.testing;

import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the rows that PostgreSQL reads of a table, which depends on plans and not on the
 * speed of a machine. There must be one connection only: each session reports its own
 * figures, when it is told to or idle.
 *
 * @param dataSource a pool of one connection
 */
public record RowReads(DataSource dataSource) {

	private static final String ROWS = "select seq_tup_read + coalesce((select sum(idx_tup_read) "
			+ "from pg_stat_user_indexes i where i.relid = t.relid), 0) from pg_stat_user_tables t where relname = ?";

	/**
	 * Runs something that reads no more than a few rows of a table, by index or without.
	 */
	public <T> T atMost(long rows, String table, String what, Supplier<T> work) {
		long before = until(table);
		T result = work.get();
		assertThat(until(table) - before).as("rows that %s read", what).isBetween(0L, rows);
		return result;
	}

	private long until(String table) {
		JdbcTemplate template = new JdbcTemplate(this.dataSource);
		template.queryForList("select pg_stat_force_next_flush()");
		return Objects.requireNonNull(template.queryForObject(ROWS, Long.class, table));
	}

}
