package dev.idempotent.transition.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lets PostgreSQL end the session of a connection before a chosen statement, before the
 * commit, or after it.
 */
final class DyingConnections implements BeanPostProcessor {

	private int steps = Integer.MAX_VALUE;

	private boolean died;

	/**
	 * Ends the session at a step from now on.
	 */
	synchronized void dieAt(int step) {
		this.steps = step;
		this.died = false;
	}

	synchronized void live() {
		dieAt(Integer.MAX_VALUE);
	}

	synchronized boolean hasDied() {
		return this.died;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource real) ? new Dying(real) : bean;
	}

	private synchronized boolean isNext() {
		boolean next = this.steps-- == 0;
		this.died |= next;
		return next;
	}

	private final class Dying extends DelegatingDataSource {

		Dying(DataSource real) {
			super(real);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection real = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, arguments) -> call(real, method, arguments));
		}

		private Object call(Connection real, Method method, Object[] arguments) throws Throwable {
			boolean commit = method.getName().equals("commit");
			if ((commit || method.getName().equals("prepareStatement")) && isNext()) {
				end(real);
			}
			try {
				Object result = method.invoke(real, arguments);
				if (commit && isNext()) {
					throw new SQLException("The reply to the commit is lost", "08006");
				}
				return result;
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

		private void end(Connection connection) throws SQLException {
			try (Connection other = super.getConnection();
					Statement own = connection.createStatement();
					Statement killer = other.createStatement();
					ResultSet row = own.executeQuery("select pg_backend_pid()")) {
				row.next();
				killer.execute("select pg_terminate_backend(%d, 60000)".formatted(row.getInt(1)));
			}
		}

	}

}
