package dev.idempotent.outbox.relay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Makes the first statements that store a failed attempt fail before they reach the
 * database.
 */
final class FailingOutcomes implements BeanPostProcessor {

	static final int MAX = 2;

	private final AtomicInteger outcomes = new AtomicInteger();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource real) ? new Failing(real) : bean;
	}

	/**
	 * How many outcomes were not stored.
	 */
	int failures() {
		return Math.min(this.outcomes.get(), MAX);
	}

	private final class Failing extends DelegatingDataSource {

		Failing(DataSource real) {
			super(real);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection real = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("prepareStatement")
								&& String.valueOf(arguments[0]).contains("last_error = ?")
								&& FailingOutcomes.this.outcomes.incrementAndGet() <= MAX) {
							throw new SQLTransientConnectionException("of the test");
						}
						try {
							return method.invoke(real, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

	}

}
