package dev.idempotent.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A data source whose database commits, and whose reply is lost.
 */
public final class LostCommitReplies extends DelegatingDataSource {

	private final BooleanSupplier lost;

	/**
	 * Creates a data source.
	 * @param real provides the connections
	 * @param lost asked after each commit whether to lose its reply
	 */
	public LostCommitReplies(DataSource real, BooleanSupplier lost) {
		super(real);
		this.lost = lost;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection real = super.getConnection();
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> call(real, method, arguments));
	}

	private @Nullable Object call(Connection real, Method method, Object @Nullable [] arguments) throws Throwable {
		try {
			Object result = method.invoke(real, arguments);
			if (method.getName().equals("commit") && this.lost.getAsBoolean()) {
				throw new SQLNonTransientConnectionException("The reply is lost", "08006");
			}
			return result;
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * Loses the reply to the next commit of one thread.
	 */
	public static final class OfOneThread implements BeanPostProcessor {

		private static final AtomicReference<@Nullable Thread> of = new AtomicReference<>();

		/**
		 * Loses the reply to the next commit of the calling thread.
		 */
		public static void expect() {
			of.set(Thread.currentThread());
		}

		/**
		 * Returns whether the expected reply was lost.
		 */
		public static boolean isLost() {
			return of.get() == null;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real)
					? new LostCommitReplies(real, () -> of.compareAndSet(Thread.currentThread(), null)) : bean;
		}

	}

}
