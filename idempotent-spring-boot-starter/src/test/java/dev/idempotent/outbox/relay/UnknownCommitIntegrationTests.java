package dev.idempotent.outbox.relay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/**
 * Commits whose reply from the database is lost.
 */
class UnknownCommitIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	/**
	 * One manager reports a rollback, the other an unknown outcome.
	 */
	@ParameterizedTest
	@ValueSource(classes = { JdbcTransactionManager.class, DataSourceTransactionManager.class })
	void deliversTheEvent(Class<?> manager) {
		try (Shop shop = Shop.open(postgres.properties(), Shop.OFTEN, LostAnswers.class,
				"spring.dao.exceptiontranslation.enabled=" + (manager == JdbcTransactionManager.class))) {
			assertThat(shop.manager()).isExactlyInstanceOf(manager);
			LostAnswers.of.set(Thread.currentThread());
			assertThatException().isThrownBy(() -> shop.append("order.created"));
			assertThat(LostAnswers.of).hasNullValue();
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("order.created"));
			assertThat(shop.broker().published().get(0).attempts()).isOne();
			await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		}
	}

	static final class LostAnswers implements BeanPostProcessor {

		/**
		 * Loses the reply to its next commit.
		 */
		private static final AtomicReference<@Nullable Thread> of = new AtomicReference<>();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new Losing(real) : bean;
		}

	}

	private static final class Losing extends DelegatingDataSource {

		Losing(DataSource real) {
			super(real);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection real = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, arguments) -> call(real, method, arguments));
		}

		private static Object call(Connection real, Method method, Object[] arguments) throws Throwable {
			try {
				Object result = method.invoke(real, arguments);
				if (method.getName().equals("commit") && LostAnswers.of.compareAndSet(Thread.currentThread(), null)) {
					throw new SQLNonTransientConnectionException("the answer is lost", "08006");
				}
				return result;
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

	}

}
