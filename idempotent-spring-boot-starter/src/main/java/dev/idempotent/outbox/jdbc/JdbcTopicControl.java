package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.TopicControl;
import org.springframework.dao.DuplicateKeyException;

/**
 * Keeps the paused topics in a table, so that they stay paused after a restart.
 */
public final class JdbcTopicControl implements TopicControl {

	private static final int MAX_LENGTH = 255;

	private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9-]+:\\P{Cntrl}+");

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates the control of a store.
	 * @param dataSource the data source of the store
	 * @param tablePrefix the common prefix of the names of the tables
	 */
	public JdbcTopicControl(DataSource dataSource, String tablePrefix) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = new OutboxTables(tablePrefix);
	}

	@Override
	public boolean pause(String topic) {
		if (topic.length() > MAX_LENGTH || !TOPIC.matcher(topic).matches()) {
			throw new IllegalArgumentException("A topic consists of the prefix of a publisher, a colon and a "
					+ "destination without control characters, and has at most " + MAX_LENGTH + " characters");
		}
		try {
			return this.database.runInTransaction((connection) -> pause(connection, topic));
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private boolean pause(Connection connection, String topic) {
		if (count(connection, " where topic = ?", List.of(topic)) > 0) {
			return false;
		}
		if (count(connection, "", List.of()) >= MAX_TOPICS) {
			throw new IllegalStateException(MAX_TOPICS + " topics are paused");
		}
		return Statements.update(connection, "insert into " + this.tables.control() + " (topic) values (?)",
				topic) == 1;
	}

	private int count(Connection connection, String condition, List<Object> parameters) {
		return Statements
			.query(connection, "select count(*) from " + this.tables.control() + condition, parameters,
					(row, number) -> row.getInt(1))
			.get(0);
	}

	@Override
	public boolean resume(String topic) {
		return this.database.runInTransaction((connection) -> Statements.update(connection,
				"delete from " + this.tables.control() + " where topic = ?", topic)) > 0;
	}

	@Override
	public List<PausedTopic> paused() {
		String sql = "select topic, " + this.database.kind().millisSince("paused_at") + " as age from "
				+ this.tables.control() + " order by topic";
		return this.database.run((connection) -> Statements.query(connection, sql, List.of(),
				(row, number) -> new PausedTopic(row.getString("topic"),
						Duration.ofMillis(Math.max(0, row.getLong("age"))))));
	}

}
