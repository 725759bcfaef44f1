package dev.idempotent.idempotency.web.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Records the statements that an application sends to its database.
 */
class Statements implements BeanPostProcessor {

	private final List<String> said = new CopyOnWriteArrayList<>();

	/**
	 * Returns the statements, commits and rollbacks since the last call, by their first
	 * words.
	 */
	List<String> take() {
		List<String> taken = List.copyOf(this.said);
		this.said.clear();
		return taken;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? new DelegatingDataSource(dataSource) {
			@Override
			public Connection getConnection() throws SQLException {
				return listenTo(super.getConnection());
			}
		} : bean;
	}

	private Connection listenTo(Connection connection) {
		return proxy(Connection.class, connection, (name, arguments, result) -> {
			if (name.equals("commit") || name.equals("rollback")) {
				this.said.add(name);
			}
			return name.equals("prepareStatement") ? listenTo((PreparedStatement) result, (String) arguments[0])
					: result;
		});
	}

	private PreparedStatement listenTo(PreparedStatement statement, String sql) {
		return proxy(PreparedStatement.class, statement, (name, arguments, result) -> {
			if (name.startsWith("execute")) {
				this.said.add(sql.replaceAll("(?s).*(insert into \\w+(?: as \\w+)?|^update \\w+|^select).*", "$1"));
			}
			return result;
		});
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

		Object heard(String name, Object[] arguments, Object result);

	}

}
