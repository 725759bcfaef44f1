package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.OnPending;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link IdempotencyTemplate}.
 */
class IdempotencyTemplateTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final ApplicationContextRunner application = MethodApplication.with();

	@Test
	void runsOncePerOperationAndKey() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			Effects effects = context.getBean(Effects.class);
			assertThat(template.execute("import", "k", Integer.class, () -> effects.add("a"))).isEqualTo(1);
			assertThat(template.execute("import", "k", Integer.class, () -> effects.add("a"))).isEqualTo(1);
			assertThat(template.execute("export", "k", Integer.class, () -> effects.add("b"))).isEqualTo(2);
			assertThat(template.execute("import", "l", Integer.class, () -> effects.add("c"))).isEqualTo(3);
		});
	}

	@Test
	void refusesHalfOfACharacterInAKey() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			Effects effects = context.getBean(Effects.class);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.execute("import", "a\ud83d", Integer.class, () -> effects.add("a")))
				.withMessageContaining("half of a character");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.execute("a\ud83d", "k", Integer.class, () -> effects.add("a")))
				.withMessageContaining("half of a character");
			assertThat(template.execute("import", "k", Integer.class, () -> effects.add("b"))).isEqualTo(1);
		});
	}

	@Test
	void refusesResultsThatCannotBeComparedBeforeTheWork() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			Effects effects = context.getBean(Effects.class);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.execute("count", "k", AtomicInteger.class,
						() -> new AtomicInteger(effects.add("a"))))
				.withMessageContainingAll("count", "cannot be compared", "The work was not run");
			assertThat(effects.committed()).isEmpty();
		});
	}

	@Test
	void readsResultsOfGenericTypes() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			var type = new ParameterizedTypeReference<List<Line>>() {
			}.getType();
			List<Line> first = template.execute("import", "k", type, () -> List.of(new Line("one", 1)));
			assertThat(template.<List<Line>>execute("import", "k", type, List::of)).isEqualTo(first);
		});
	}

	@Test
	void commitsResultAndWorkTogether() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class)
				.withGuarantee(Guarantee.TRANSACTION);
			Effects effects = context.getBean(Effects.class);
			assertThatIllegalStateException().isThrownBy(() -> template.execute("import", "k", Void.class, () -> {
				effects.add("undone");
				throw new IllegalStateException("The work fails");
			}));
			assertThat(template.execute("import", "k", Integer.class, () -> effects.add("done"))).isEqualTo(2);
			assertThat(template.execute("import", "k", Integer.class, () -> effects.add("again"))).isEqualTo(2);
			assertThat(effects.committed()).containsExactly("done");
			assertThat(effects.records()).isOne();
		});
	}

	@Test
	void refusesDuplicatesOrLetsThemWait() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			CountDownLatch running = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			CompletableFuture<String> first = CompletableFuture
				.supplyAsync(() -> template.execute("import", "k", String.class, () -> {
					running.countDown();
					awaitUninterruptibly(end);
					return "first";
				}));
			awaitUninterruptibly(running);
			assertThatExceptionOfType(IdempotencyPendingException.class)
				.isThrownBy(() -> template.execute("import", "k", String.class, () -> "second"))
				.satisfies((pending) -> assertThat(pending.getRetryAfter()).isPositive());
			CompletableFuture<String> waiting = CompletableFuture.supplyAsync(
					() -> template.withOnPending(OnPending.WAIT).execute("import", "k", String.class, () -> "second"));
			end.countDown();
			assertThat(waiting.join()).isEqualTo("first");
			assertThat(first.join()).isEqualTo("first");
		});
	}

	@Test
	void exposesTheKeyToTheWork() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			String digest = template.execute("outer", "k", String.class, () -> {
				String outer = MDC.get(IdempotencyContext.MDC_KEY);
				String inner = template.execute("inner", "k", String.class, () -> MDC.get(IdempotencyContext.MDC_KEY));
				assertThat(inner).isNotEqualTo(outer);
				assertThat(MDC.get(IdempotencyContext.MDC_KEY)).isEqualTo(outer);
				return outer;
			});
			assertThat(digest).hasSize(64);
			assertThat(IdempotencyContext.current()).isNull();
			assertThat(MDC.get(IdempotencyContext.MDC_KEY)).isNull();
		});
	}

	@Test
	void refusesInvalidArguments() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			assertThatIllegalArgumentException().isThrownBy(() -> template.execute(" ", "k", String.class, () -> ""));
			assertThatIllegalArgumentException().isThrownBy(() -> template.execute("o", "", String.class, () -> ""));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.withLeaseAndRetention(MINUTE, Duration.ofSeconds(1)));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.withLeaseAndRetention(Duration.ZERO, MINUTE));
		});
	}

	@Test
	void needsADatabaseForATransaction() {
		this.application.run((context) -> {
			MethodSettings environment = context.getBean(MethodSettings.class);
			IdempotencyTemplate template = new IdempotencyTemplate(new MethodSettings(environment.engine(), "shop",
					environment.defaults(), MINUTE, environment.json(), environment.values(), null, null, null))
				.withGuarantee(Guarantee.TRANSACTION);
			assertThatExceptionOfType(IdempotentConfigurationException.class)
				.isThrownBy(() -> template.execute("import", "k", String.class, () -> ""))
				.withMessageContaining("no database");
		});
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	record Line(String text, int number) {
	}

}
