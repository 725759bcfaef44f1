package dev.idempotent.autoconfigure.saga;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An instance that stops in the middle of a saga, and another one that finishes it.
 */
class SagaTakeOverIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private static final Gate gate = new Gate();

	@Test
	void runsTheMethodOfTheBeanInsideItsMethodSecurity() {
		String id = UUID.randomUUID().toString();
		CompletableFuture<@Nullable String> first = new CompletableFuture<>();
		instance("idempotent.saga.lease=500ms").run((context) -> {
			Checkout checkout = context.getBean(Checkout.class);
			new Thread(() -> {
				SecurityContextHolder.getContext()
					.setAuthentication(new TestingAuthenticationToken("caller", "", "ROLE_CLERK"));
				try {
					first.complete(checkout.place(id, List.of(new Item("book", 2))));
				}
				catch (Throwable ex) {
					first.completeExceptionally(ex);
				}
			}, "first-owner").start();
			gate.awaitEntry();
		});
		instance().run((context) -> {
			await().until(() -> calls.stream().filter((call) -> call.startsWith("charge")).count() == 2);
			SecurityContextHolder.getContext()
				.setAuthentication(new TestingAuthenticationToken("caller", "", "ROLE_CLERK"));
			await().pollInSameThread()
				.ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
				.untilAsserted(() -> assertThat(context.getBean(Checkout.class).place(id, List.of(new Item("book", 2))))
					.isEqualTo("[Item[name=book, count=2]] charged null"));
			SecurityContextHolder.clearContext();
		});
		gate.open();
		assertThat(first).failsWithin(Duration.ofMinutes(1));
		assertThat(calls).extracting((call) -> call.replaceAll(" .*", ""))
			.containsExactly("reserve", "charge", "charge");
		assertThat(calls.get(2)).as("the same key").isEqualTo(calls.get(1));
	}

	/**
	 * The instance that takes over has a lease that no pause of a busy machine ends.
	 */
	private static ApplicationContextRunner instance(String... properties) {
		return SagaApplication.with(Checkout.class, Security.class)
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"idempotent.saga.table-prefix=taken_saga_", "idempotent.saga.initialize-schema=always",
					"idempotent.jdbc.initialize-schema=always")
			.withPropertyValues(properties);
	}

	record Item(String name, int count) {
	}

	static class Checkout {

		private final SagaSteps saga;

		Checkout(SagaSteps saga) {
			this.saga = saga;
		}

		@PreAuthorize("hasRole('CLERK')")
		@Saga(key = "#id", name = "Checkout.place")
		public String place(String id, List<Item> items) {
			String reserved = this.saga.step("reserve", String.class).runInTransaction(() -> {
				calls.add("reserve");
				return items.toString();
			});
			Function<String, String> charge = (key) -> {
				assertThat(IdempotencyContext.current()).isNotNull();
				calls.add("charge " + key);
				if (Thread.currentThread().getName().equals("first-owner")) {
					hang();
				}
				return " charged " + SecurityContextHolder.getContext().getAuthentication();
			};
			return reserved + this.saga.step("charge", String.class).run(charge);
		}

		private static void hang() {
			try {
				gate.pass();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Security {

	}

}
