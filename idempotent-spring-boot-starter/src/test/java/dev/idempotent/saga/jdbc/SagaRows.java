package dev.idempotent.saga.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.jdbc.Database;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The tables of sagas for a test, created by the script that applications run.
 *
 * @param dataSource the database that they are in
 * @param platform the suffix of the script
 * @param tables their names
 */
record SagaRows(DataSource dataSource, String platform, SagaTables tables) {

	/**
	 * Creates the tables unless they exist.
	 */
	static SagaRows create(DataSource dataSource, String platform, String prefix) {
		SagaTables tables = new SagaTables(prefix);
		try {
			String script = new ClassPathResource(Database.script(platform, "saga"))
				.getContentAsString(StandardCharsets.UTF_8);
			byte[] named = TableScript.rename(script, "saga_", "instance|step|signal", prefix)
				.getBytes(StandardCharsets.UTF_8);
			new ResourceDatabasePopulator(new ByteArrayResource(named)).execute(dataSource);
			return new SagaRows(dataSource, platform, tables);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	JdbcTemplate template() {
		return new JdbcTemplate(this.dataSource);
	}

	/**
	 * Lets time pass by moving the rows into the past.
	 */
	void pass(Duration time) {
		template().update("update " + this.tables.instance() + " set due_at = " + before("due_at", time)
				+ ", deadline = " + before("deadline", time) + ", created_at = " + before("created_at", time));
		template().update("update " + this.tables.step() + " set begun_at = " + before("begun_at", time)
				+ ", compensating_at = " + before("compensating_at", time));
		template().update("update " + this.tables.signal() + " set expires_at = " + before("expires_at", time));
	}

	private String before(String column, Duration time) {
		return switch (this.platform) {
			case "postgresql" -> column + " - " + time.toMillis() + " * interval '1 millisecond'";
			case "mysql" -> "timestampadd(microsecond, " + -time.toMillis() * 1000 + ", " + column + ")";
			default -> "dateadd(millisecond, " + -time.toMillis() + ", " + column + ")";
		};
	}

	void clear() {
		template().update("delete from " + this.tables.step());
		template().update("delete from " + this.tables.signal());
		template().update("delete from " + this.tables.instance());
	}

	/**
	 * Inserts ended sagas whose retention has ended.
	 */
	void end(int count) {
		template().batchUpdate("insert into " + this.tables.instance() + " (id, name, status, epoch, steps, due_at, "
				+ "deadline, attempts, fingerprint_version, fingerprint_digest, created_at) values (?, 'checkout', ?, 1, "
				+ "1, timestamp '2001-01-01 00:00:00', timestamp '2001-01-01 00:00:00', 0, 1, '', "
				+ "timestamp '2001-01-01 00:00:00')",
				IntStream.range(0, count)
					.mapToObj((i) -> new Object[] { "ended " + i, (i % 3 == 0) ? "COMPENSATED" : "COMPLETED" })
					.toList());
	}

	/**
	 * Inserts sagas that are leased, halted or have ended, with two steps each, on
	 * PostgreSQL.
	 */
	void burst(int count) {
		template().update("insert into " + this.tables.instance() + " (id, name, status, halted_in, epoch, steps, "
				+ "owner, due_at, deadline, attempts, fingerprint_version, fingerprint_digest, created_at) "
				+ "select md5(i::text) || md5(i::text), 'checkout', (array['EXECUTING', 'HALTED', 'COMPLETED', "
				+ "'COMPENSATED'])[i % 4 + 1], case when i % 4 = 1 then 'EXECUTING' end, 1, 2, 'other', "
				+ "now() + interval '1 day' + i * interval '1 ms', now() + interval '2 days', 0, 1, '', now() from "
				+ " generate_series(1, ?) i", count);
		template().update("insert into " + this.tables.step() + " (saga_id, name, seq, kind, state, begun_at) "
				+ "select id, 'step ' || n, n, 'CALL', 'DONE', now() from " + this.tables.instance()
				+ ", generate_series(1, 2) n");
	}

	/**
	 * Inserts due sagas whose name is not served, on PostgreSQL.
	 */
	void unserved(int count) {
		template().update("insert into " + this.tables.instance()
				+ " (id, name, status, epoch, steps, due_at, deadline, "
				+ "attempts, fingerprint_version, fingerprint_digest, created_at) "
				+ "select md5('u' || i) || md5('u' || i), 'unserved', 'EXECUTING', 1, 0, now() - interval '1 hour', "
				+ "now() + interval '2 days', 0, 1, '', now() from generate_series(1, ?) i", count);
	}

	long steps() {
		return Objects
			.requireNonNull(template().queryForObject("select count(*) from " + this.tables.step(), Long.class));
	}

}
