package dev.idempotent.idempotency.web.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of the guarantee in the database: two statements, and no extra commit.
 */
@Tag("long")
class DatabaseStatementsIntegrationTests {

	private static final String WORK = "insert into work";

	private static final String CLAIM = "insert into idempotency_record";

	private static final String COMPLETE = "insert into idempotency_record as own";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String path = "?name=work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@CsvSource({ "redis, 0B", "jdbc, 0B", "jdbc, 1MB" })
	void addsTwoStatementsToTheTransactionOfAFirstRequest(String store, String cache) {
		try (WebApplication application = start("idempotent.store=" + store,
				"idempotent.replay-cache.max-size=" + cache)) {
			post(application, "created");
			assertThat(statements(application)).containsExactly(CLAIM, WORK, COMPLETE, "commit");
		}
	}

	@Test
	void addsNoStatementToAReplayFromRedis() {
		try (WebApplication application = start("idempotent.store=redis")) {
			post(application, "created");
			statements(application);
			post(application, "created");
			assertThat(statements(application)).isEmpty();
		}
	}

	@Test
	void takesTwoStatementsForAReplayFromTheDatabase() {
		try (WebApplication application = start("idempotent.store=jdbc")) {
			post(application, "created");
			statements(application);
			post(application, "created");
			assertThat(statements(application)).containsExactly(CLAIM, "select", "rollback");
		}
	}

	@Test
	void asksTheDatabaseOnceIfRedisHasLostTheKey() {
		try (WebApplication application = start("idempotent.store=redis")) {
			post(application, "created");
			redis.connect().getConnection().serverCommands().flushAll();
			statements(application);
			post(application, "created");
			assertThat(statements(application)).containsExactly(CLAIM, "select", "rollback");
			post(application, "created");
			assertThat(statements(application)).isEmpty();
		}
	}

	@Test
	void storesARefusalInASecondTransaction() {
		try (WebApplication application = start("idempotent.store=redis")) {
			post(application, "not-found");
			assertThat(statements(application)).containsExactly(CLAIM, WORK, "rollback", CLAIM, COMPLETE, "commit");
		}
	}

	private void post(WebApplication application, String ending) {
		application.post("/jobs/" + ending + this.path, "{}", "Idempotency-Key", this.key);
	}

	private static List<String> statements(WebApplication application) {
		return application.bean(Statements.class).take();
	}

	private static WebApplication start(String... properties) {
		WebApplication application = TransactionApplication.start(Listening.class, redis, postgres,
				Stream.concat(Stream.of(WebApplication.WITH_DATABASE), Stream.of(properties)).toArray(String[]::new));
		statements(application);
		return application;
	}

	@Configuration(proxyBeanMethods = false)
	@Import(TransactionApplication.class)
	static class Listening {

		@Bean
		static Statements statements() {
			return new Statements();
		}

	}

	/**
	 * Records the statements that an application sends to its database.
	 */
	static class Statements implements BeanPostProcessor {

		private final List<String> said = new CopyOnWriteArrayList<>();

		/**
		 * Returns the statements, commits and rollbacks since the last call, by their
		 * first words.
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
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(proxy, method, arguments) -> {
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

}
