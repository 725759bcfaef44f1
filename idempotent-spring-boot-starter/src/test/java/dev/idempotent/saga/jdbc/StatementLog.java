package dev.idempotent.saga.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A data source that records the statements, commits and settings of its connections.
 */
final class StatementLog extends DelegatingDataSource {

	private static final Pattern ACCESS = Pattern.compile("(insert into|update|delete from|from) logged_(\\w+)");

	private final List<String> sent = new ArrayList<>();

	StatementLog(DataSource dataSource) {
		super(dataSource);
	}

	/**
	 * Returns what was sent since the last call.
	 */
	List<String> take() {
		List<String> taken = List.copyOf(this.sent);
		this.sent.clear();
		return taken;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return proxy(Connection.class, connection, (name, arguments, result) -> switch (name) {
			case "commit", "rollback", "setTransactionIsolation" -> {
				this.sent.add(name);
				yield result;
			}
			case "prepareStatement" -> recorded(connection, (PreparedStatement) result, (String) arguments[0]);
			default -> result;
		});
	}

	private PreparedStatement recorded(Connection connection, PreparedStatement statement, String sql) {
		return proxy(PreparedStatement.class, statement, (name, arguments, result) -> {
			if (name.startsWith("execute")) {
				this.sent.add(summary(sql));
				if (connection.getAutoCommit()) {
					this.sent.add("commit");
				}
			}
			return result;
		});
	}

	/**
	 * The tables that a statement writes, or else those that it reads.
	 */
	private static String summary(String sql) {
		List<MatchResult> accesses = ACCESS.matcher(sql).results().toList();
		String writes = accesses.stream()
			.filter((access) -> !access.group(1).equals("from"))
			.map((access) -> access.group(1).replaceAll(" .*", "") + " " + access.group(2))
			.collect(Collectors.joining(", "));
		return !writes.isEmpty() ? writes
				: accesses.stream().map((access) -> "select " + access.group(2)).findFirst().orElse(sql);
	}

	private static <T> T proxy(Class<T> type, T target, Listener listener) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				try {
					return listener.heard(method.getName(), arguments, method.invoke(target, arguments));
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

	private interface Listener {

		Object heard(String name, Object[] arguments, Object result) throws SQLException;

	}

}
