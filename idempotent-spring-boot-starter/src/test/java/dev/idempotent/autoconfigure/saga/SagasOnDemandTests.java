package dev.idempotent.autoconfigure.saga;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an application has of sagas, if it has any.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagasOnDemandTests {

	private static final AtomicInteger DATABASES = new AtomicInteger();

	private static final Duration END_OF_THREAD = Duration.ofMinutes(1);

	private static final List<String> threadsAtClose = new ArrayList<>();

	/**
	 * Left by applications of other tests.
	 */
	private final Set<Thread> before = Thread.getAllStackTraces().keySet();

	@Test
	void costNothingWithoutASaga(CapturedOutput output) {
		SagaApplication.with(Database.class)
			.withPropertyValues("idempotent.jdbc.initialize-schema=never")
			.run((context) -> {
				assertThat(context.getBean(CountingDataSource.class).connections()).isZero();
				assertThat(List.of("sagaEngine", "sagaStore", "saga", "sagas", "sagaSchema", "sagaAdministration",
						"sagaSweeper"))
					.allSatisfy((name) -> assertThat(context.getBeanFactory().containsSingleton(name)).isFalse())
					.allSatisfy((name) -> assertThat(context).hasBean(name));
				assertThat(threads()).isEmpty();
			});
		assertThat(output).doesNotContain("Sagas:");
	}

	@Test
	void haveNoThreadsWhereTheyAreOnlyInjected() {
		SagaApplication.with(Database.class, Observer.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(threads()).isEmpty();
		});
	}

	@Test
	void runWhileTheApplicationDoes(CapturedOutput output) {
		threadsAtClose.clear();
		SagaApplication.with(Database.class, Greeter.class, Relay.class).run((context) -> {
			assertThat(context.getBean(Greeter.class).greet("Ada")).isEqualTo("Hello, Ada");
			assertThat(threads()).isNotEmpty();
		});
		assertThat(output).contains("Sagas: Greeter.greet (timeout PT1M)");
		assertThat(threadsAtClose).containsExactly("none", "none");
	}

	private List<Thread> threads() {
		return sagaThreads(this.before);
	}

	/**
	 * A thread may be alive for a moment after its executor has terminated.
	 */
	private static void note(Set<Thread> before) {
		for (Thread thread : sagaThreads(before)) {
			try {
				thread.join(END_OF_THREAD.toMillis());
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
		List<Thread> running = sagaThreads(before);
		threadsAtClose.add(running.isEmpty() ? "none" : running.toString());
	}

	private static List<Thread> sagaThreads(Set<Thread> before) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> !before.contains(thread))
			.filter((thread) -> thread.getName().startsWith("saga-"))
			.toList();
	}

	static class Greeter {

		private final SagaSteps saga;

		Greeter(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#name", timeout = "${greeting.timeout:1m}", name = "Greeter.greet")
		public String greet(String name) {
			return this.saga.step("greet", String.class).runInTransaction(() -> "Hello, " + name);
		}

	}

	@SuppressWarnings("unused")
	record Observer(Sagas sagas, SagaSteps steps) {
	}

	/**
	 * Stops when the relay of the outbox does.
	 */
	static class Relay implements SmartLifecycle {

		private final Set<Thread> before = Thread.getAllStackTraces().keySet();

		private boolean running;

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
			note(this.before);
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return 1024;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Database {

		private final Set<Thread> before = Thread.getAllStackTraces().keySet();

		@Bean
		CountingDataSource dataSource() {
			JdbcDataSource h2 = new JdbcDataSource();
			h2.setURL("jdbc:h2:mem:sagas-on-demand-" + DATABASES.incrementAndGet() + ";DB_CLOSE_DELAY=-1");
			return new CountingDataSource(h2, this.before);
		}

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	/**
	 * Counts the connections that are taken, and what still runs when it is closed.
	 */
	static final class CountingDataSource extends DelegatingDataSource implements AutoCloseable {

		private final AtomicInteger connections = new AtomicInteger();

		private final Set<Thread> before;

		CountingDataSource(DataSource target, Set<Thread> before) {
			super(target);
			this.before = before;
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.connections.incrementAndGet();
			return super.getConnection();
		}

		int connections() {
			return this.connections.get();
		}

		@Override
		public void close() {
			note(this.before);
		}

	}

}
