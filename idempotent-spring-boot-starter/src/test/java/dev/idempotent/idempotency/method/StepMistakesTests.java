package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the calls of steps of {@link IdempotencyTemplate} that are mistakes.
 */
class StepMistakesTests {

	private final ApplicationContextRunner application = MethodApplication.with(StepTests.Shop.class);

	private final AtomicInteger runs = new AtomicInteger();

	@Test
	void areRefusedOutsideARun() {
		withTemplate((template) -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
		})).withMessageContaining("outside an idempotent run"));
	}

	@Test
	void areRefusedAfterTheirRun() {
		withTemplate((template) -> {
			AtomicReference<@Nullable IdempotencyContext> run = new AtomicReference<>();
			StepTests.execute(template, "k", () -> run.set(IdempotencyContext.current()));
			IdempotencyContext.bind(run.get());
			try {
				assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
				})).withMessageContaining("had ended");
			}
			finally {
				IdempotencyContext.bind(null);
			}
		});
	}

	@Test
	void areRefusedUnderTransaction() {
		withTemplate((template) -> StepTests.execute(template.withGuarantee(Guarantee.TRANSACTION), "k",
				() -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
				})).withMessageContaining("Guarantee.TRANSACTION")));
	}

	@Test
	void areRefusedInAnOpenTransaction() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			StepTests.execute(template, "k", () -> transaction.executeWithoutResult(
					(status) -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
					})).withMessageContaining("open transaction")));
			StepTests.execute(template, "l",
					() -> template.step("one", () -> transaction.executeWithoutResult((status) -> {
					})));
		});
	}

	@Test
	void areRefusedWithinAnother() {
		withTemplate((template) -> StepTests.execute(template, "k", () -> template.step("one",
				() -> assertThatIllegalStateException().isThrownBy(() -> template.step("two", () -> {
				})).withMessageContaining("within another step"))));
	}

	@Test
	void areRefusedWithoutANameOrAResultThatCanBeRecorded() {
		withTemplate((template) -> StepTests.execute(template, "k", () -> {
			assertThatIllegalArgumentException().isThrownBy(() -> template.step(" ", () -> {
			}));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.step("one", CompletableFuture.class, CompletableFuture::new));
			assertThatIllegalArgumentException().isThrownBy(() -> template.step("one", Stream.class, Stream::empty));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> template.step("one", AtomicInteger.class, () -> new AtomicInteger(this.runs.get())))
				.withMessageContainingAll("step 'one'", "cannot be compared", "The work was not run");
		}));
	}

	@Test
	void runOnceOfManyThreadsOfOneRun() {
		int threads = 8;
		ExecutorService pool = Executors.newFixedThreadPool(threads);
		withTemplate((template) -> StepTests.execute(template, "k", () -> {
			IdempotencyContext run = IdempotencyContext.current();
			CyclicBarrier start = new CyclicBarrier(threads);
			Callable<Boolean> call = () -> {
				IdempotencyContext.bind(run);
				start.await();
				try {
					template.step("one", this.runs::incrementAndGet);
					return true;
				}
				catch (IllegalStateException ex) {
					assertThat(ex).hasMessageContaining("already called in this run");
					return false;
				}
			};
			assertThat(results(pool, Collections.nCopies(threads, call))).containsOnlyOnce(true);
		}));
		pool.shutdownNow();
		assertThat(this.runs).hasValue(1);
	}

	private static List<Boolean> results(ExecutorService pool, List<Callable<Boolean>> calls) {
		List<Boolean> results = new ArrayList<>();
		try {
			for (Future<Boolean> call : pool.invokeAll(calls)) {
				results.add(call.get());
			}
			return results;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void withTemplate(Consumer<IdempotencyTemplate> test) {
		this.application.run((context) -> test.accept(context.getBean(IdempotencyTemplate.class)));
	}

}
