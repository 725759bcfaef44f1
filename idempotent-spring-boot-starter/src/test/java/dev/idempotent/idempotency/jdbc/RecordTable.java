package dev.idempotent.idempotency.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.jdbc.Database;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A table of records for a test, created by the script that applications run.
 *
 * @param dataSource the database that it is in
 * @param name the name of the table
 */
record RecordTable(DataSource dataSource, String name) {

	static final String DEFAULT = "idempotency_record";

	/**
	 * Creates a table unless it exists.
	 * @param platform the suffix of the script
	 */
	static RecordTable create(DataSource dataSource, String platform, String name) {
		try {
			String script = new ClassPathResource(Database.script(platform, "idempotency"))
				.getContentAsString(StandardCharsets.UTF_8);
			byte[] renamed = script.replace(DEFAULT, name).getBytes(StandardCharsets.UTF_8);
			new ResourceDatabasePopulator(new ByteArrayResource(renamed)).execute(dataSource);
			return new RecordTable(dataSource, name);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Creates a table in a new H2 database, which ends with the JVM.
	 */
	static RecordTable inMemory() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		return create(pool, "h2", DEFAULT);
	}

	JdbcTemplate template() {
		return new JdbcTemplate(this.dataSource);
	}

	/**
	 * Inserts expired keys.
	 */
	List<IdempotencyKey> expire(int count) {
		List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(count).toList();
		template().batchUpdate(
				"insert into " + this.name + " values (?, 'gone', 1, '', false, null, timestamp '2001-01-01 00:00:00')",
				keys.stream().map((key) -> new Object[] { key.digest() }).toList());
		return keys;
	}

	long rows() {
		return Objects.requireNonNull(template().queryForObject("select count(*) from " + this.name, Long.class));
	}

	void forget(IdempotencyKey key) {
		template().update("delete from " + this.name + " where key_digest = ?", key.digest());
	}

}
