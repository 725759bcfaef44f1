package dev.idempotent.benchmark.outbox;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.ClassUtils;

/**
 * Counts what is executed on the connections that a pool opens while it counts. Other
 * connections are the driver's own, so that what is not counted is not slowed.
 */
final class StatementCount implements BeanPostProcessor {

	private final LongAdder statements = new LongAdder();

	private final LongAdder transactions = new LongAdder();

	private volatile boolean counting;

	@Override
	public Object postProcessBeforeInitialization(Object bean, String name) {
		if (bean instanceof HikariDataSource pool) {
			pool.setDataSource(new DriverManagerDataSource(Objects.requireNonNull(pool.getJdbcUrl()),
					Objects.requireNonNull(pool.getUsername()), Objects.requireNonNull(pool.getPassword())) {

				@Override
				protected Connection getConnectionFromDriverManager(String url, Properties properties)
						throws SQLException {
					Connection connection = super.getConnectionFromDriverManager(url, properties);
					return StatementCount.this.counting ? counted(connection) : connection;
				}

			});
		}
		return bean;
	}

	void count(boolean begin) {
		this.counting = begin;
		this.statements.reset();
		this.transactions.reset();
	}

	/**
	 * Statements; a batch is one.
	 */
	long statements() {
		return this.statements.sum();
	}

	/**
	 * Commits, and statements without a transaction.
	 */
	long transactions() {
		return this.transactions.sum();
	}

	private Connection counted(Connection connection) {
		return proxy(Connection.class, (proxy, method, arguments) -> {
			if (method.getName().equals("commit")) {
				this.transactions.increment();
			}
			Object result = invoke(connection, method, arguments);
			return (result instanceof Statement statement) ? counted(statement, connection) : result;
		}, connection);
	}

	private Statement counted(Statement statement, Connection connection) {
		return proxy(Statement.class, (proxy, method, arguments) -> {
			if (method.getName().startsWith("execute")) {
				this.statements.increment();
				if (connection.getAutoCommit()) {
					this.transactions.increment();
				}
			}
			return invoke(statement, method, arguments);
		}, statement);
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler, T target) {
		return type.cast(Proxy.newProxyInstance(target.getClass().getClassLoader(), ClassUtils.getAllInterfaces(target),
				handler));
	}

	private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw Objects.requireNonNullElse(ex.getCause(), ex);
		}
	}

}
