package dev.idempotent.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionGuard}.
 */
class TransactionGuardIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void cannotBeCommittedAfterAFailedStatement(boolean hidden) throws SQLException {
		try (Connection connection = postgres.connect().getConnection()) {
			connection.setAutoCommit(false);
			Connection seen = hidden ? hidden(connection) : connection;
			assertThat(TransactionGuard.canCommit(seen)).isTrue();
			connection.createStatement().execute("select 1");
			assertThat(TransactionGuard.canCommit(seen)).isTrue();
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> connection.createStatement().execute("select 1 / 0"));
			assertThat(TransactionGuard.canCommit(seen)).isFalse();
			connection.commit();
		}
	}

	/**
	 * As a pool may hide the connection of the driver.
	 */
	private static Connection hidden(Connection connection) {
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("isWrapperFor")) {
						return false;
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
