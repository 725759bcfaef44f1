package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.StatementFailures;
import org.jspecify.annotations.Nullable;

/**
 * The dialect of a database, which tells what it is at the first connection.
 */
final class DetectedDialect {

	private final NonTransactionalConnections connections;

	private volatile @Nullable EventDialect known;

	DetectedDialect(NonTransactionalConnections connections) {
		this.connections = connections;
	}

	EventDialect get() {
		EventDialect dialect = this.known;
		if (dialect == null) {
			dialect = this.connections.run(DetectedDialect::of);
			this.known = dialect;
		}
		return dialect;
	}

	private static EventDialect of(Connection connection) {
		try {
			return EventDialect.of(connection);
		}
		catch (SQLException ex) {
			throw StatementFailures.translate("", ex);
		}
	}

}
