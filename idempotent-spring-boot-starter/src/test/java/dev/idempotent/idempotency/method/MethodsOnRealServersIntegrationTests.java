package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Annotated methods of two instances on one Redis and one PostgreSQL.
 */
class MethodsOnRealServersIntegrationTests {

	private static final int THREADS = 8;

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	private static final ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);

	@BeforeAll
	static void start() {
		instances.add(instance());
		instances.add(instance());
	}

	@AfterAll
	static void stop() {
		threads.shutdownNow();
		instances.forEach(ConfigurableApplicationContext::close);
		instances.clear();
	}

	@BeforeEach
	void empty() {
		database().sql("drop table if exists placed").update();
		database().sql("create table placed (id varchar(40))").update();
		database().sql("delete from idempotency_record").update();
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void runOnceOfManyConcurrentCalls(Guarantee guarantee) throws Exception {
		for (int round = 0; round < 20; round++) {
			String id = guarantee + "-" + round;
			List<Integer> results = raceFor(id, guarantee);
			assertThat(results).isNotEmpty().containsOnly(results.get(0));
			assertThat(placed(id)).isOne();
		}
	}

	@Test
	void runOnceEvenIfRedisLosesItsData() {
		Shop one = instances.get(0).getBean(Shop.class);
		int first = one.inTransaction("forgotten");
		redis.flush();
		assertThat(instances.get(1).getBean(Shop.class).inTransaction("forgotten")).isEqualTo(first);
		assertThat(placed("forgotten")).isOne();
	}

	@Test
	void runOnceWhileRedisIsUnreachable() {
		redis.stop();
		try {
			int first = instances.get(0).getBean(Shop.class).inTransaction("alone");
			assertThat(instances.get(1).getBean(Shop.class).inTransaction("alone")).isEqualTo(first);
			assertThat(placed("alone")).isOne();
		}
		finally {
			redis.start();
			await().ignoreExceptions()
				.untilAsserted(() -> assertThat(instances)
					.allSatisfy((instance) -> instance.getBean(Shop.class).underLease(UUID.randomUUID().toString())));
		}
	}

	@Test
	void areReplayedToWaitingCalls() throws Exception {
		CyclicBarrier start = new CyclicBarrier(2);
		List<Future<Integer>> calls = instances.stream().map((instance) -> threads.submit(() -> {
			start.await();
			return instance.getBean(Shop.class).patiently("waiting");
		})).toList();
		assertThat(calls.get(0).get()).isEqualTo(calls.get(1).get());
		assertThat(placed("waiting")).isOne();
	}

	@Test
	void arePendingWhileAnotherInstanceHoldsTheKey() {
		Shop one = instances.get(0).getBean(Shop.class);
		Shop other = instances.get(1).getBean(Shop.class);
		one.during("held", () -> assertThatExceptionOfType(IdempotencyPendingException.class)
			.isThrownBy(() -> other.during("held", () -> {
			}))
			.satisfies(
					(pending) -> assertThat(pending.getRetryAfter()).isBetween(Duration.ZERO, Duration.ofSeconds(30))));
	}

	private List<Integer> raceFor(String id, Guarantee guarantee) throws Exception {
		CyclicBarrier start = new CyclicBarrier(2 * THREADS);
		List<Callable<Integer>> calls = new ArrayList<>();
		for (int i = 0; i < 2 * THREADS; i++) {
			Shop shop = instances.get(i % 2).getBean(Shop.class);
			calls.add(() -> {
				start.await();
				return (guarantee == Guarantee.LEASE) ? shop.underLease(id) : shop.inTransaction(id);
			});
		}
		List<Integer> results = new ArrayList<>();
		for (Future<Integer> call : threads.invokeAll(calls)) {
			try {
				results.add(call.get());
			}
			catch (ExecutionException ex) {
				assertThat(ex).hasCauseInstanceOf(IdempotencyPendingException.class);
			}
		}
		return results;
	}

	private int placed(String id) {
		return database().sql("select count(*) from placed where id = ?").param(id).query(Integer.class).single();
	}

	private static JdbcClient database() {
		return instances.get(0).getBean(JdbcClient.class);
	}

	private static ConfigurableApplicationContext instance() {
		List<String> arguments = new ArrayList<>(
				List.of("--idempotent.namespace=methods", "--spring.main.banner-mode=off",
						"--idempotent.jdbc.initialize-schema=always", "--idempotent.redis.timeout=10s"));
		redis.properties().forEach((property) -> arguments.add("--" + property));
		postgres.properties().forEach((property) -> arguments.add("--" + property));
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.run(arguments.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Shop shop(JdbcClient database) {
			return new Shop(database);
		}

	}

	static class Shop {

		private final JdbcClient database;

		Shop(JdbcClient database) {
			this.database = database;
		}

		@Transactional
		@Idempotent(key = "#id", name = "shop.under-lease")
		public int underLease(String id) {
			return place(id);
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "shop.in-transaction")
		public int inTransaction(String id) {
			return place(id);
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, onPending = OnPending.WAIT, name = "shop.patiently")
		public int patiently(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", ignore = "work", name = "shop.during")
		public void during(String id, Runnable work) {
			work.run();
		}

		private int place(String id) {
			this.database.sql("insert into placed values (?)").param(id).update();
			return System.identityHashCode(new Object());
		}

	}

}
