package dev.idempotent.saga.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

import javax.sql.DataSource;

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
			String script = new ClassPathResource("schema-" + platform + ".sql", JdbcSagaStore.class)
				.getContentAsString(StandardCharsets.UTF_8);
			byte[] named = tables.named(script).getBytes(StandardCharsets.UTF_8);
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
		template().update("delete from " + this.tables.instance());
	}

	long steps() {
		return Objects
			.requireNonNull(template().queryForObject("select count(*) from " + this.tables.step(), Long.class));
	}

}
