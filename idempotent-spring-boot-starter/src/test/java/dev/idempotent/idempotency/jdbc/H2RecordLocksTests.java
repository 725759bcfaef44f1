package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;

import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRecords} in transactions of H2.
 */
class H2RecordLocksTests extends RecordLocksContract {

	private static final Duration DEFAULT = Duration.ofSeconds(2);

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.inMemory();
	}

	@Override
	RecordTable table() {
		return table;
	}

	/**
	 * A session of H2 has one lock timeout, which no claim changes.
	 */
	@Override
	void waitForLocksTooLong(Connection connection) throws SQLException {
		waitForLocks(connection, shortTime());
	}

	@Override
	Claim claim(Connection connection, String token, @Nullable Duration lockTimeout) {
		try {
			waitForLocks(connection, (lockTimeout != null) ? lockTimeout : DEFAULT);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return super.claim(connection, token, lockTimeout);
	}

	private static void waitForLocks(Connection connection, Duration timeout) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("set lock_timeout " + timeout.toMillis());
		}
	}

	@Override
	void awaitAWaitingTransaction() {
		await().until(() -> Thread.getAllStackTraces()
			.values()
			.stream()
			.flatMap(Stream::of)
			.anyMatch((frame) -> frame.getClassName().equals("org.h2.command.Command")
					&& frame.getMethodName().equals("executeUpdate")));
	}

}
