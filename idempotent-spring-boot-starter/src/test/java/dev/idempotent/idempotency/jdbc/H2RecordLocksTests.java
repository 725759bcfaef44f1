package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;

import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRecords} in transactions of H2.
 */
class H2RecordLocksTests extends RecordLocksContract {

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.inMemory();
	}

	@Override
	RecordTable table() {
		return table;
	}

	@Override
	void waitForLocksTooLong(Connection connection) {
		// H2 has one lock timeout, which no claim changes.
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
