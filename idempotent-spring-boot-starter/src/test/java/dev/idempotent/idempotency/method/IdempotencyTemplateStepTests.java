package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.Samples;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the steps of {@link IdempotencyTemplate}, and for their mistakes.
 */
class IdempotencyTemplateStepTests {

	private static final String CALL = "POST /charges";

	private final ApplicationContextRunner application = MethodApplication.with(Shop.class);

	private final AtomicInteger runs = new AtomicInteger();

	@Test
	void areContinuedAfterTheLastRecordedOneByARetry() {
		withTemplate((template) -> {
			assertThatIllegalStateException().isThrownBy(() -> execute(template, "k", () -> {
				assertThat(template.step("one", Integer.class, this.runs::incrementAndGet)).isOne();
				template.step("two", this.runs::incrementAndGet);
				throw new IllegalStateException("The process dies");
			}));
			execute(template, "k", () -> {
				assertThat(template.step("one", Integer.class, this.runs::incrementAndGet)).isOne();
				template.step("two", this.runs::incrementAndGet);
				assertThat(template.step("three", Integer.class, this.runs::incrementAndGet)).isEqualTo(3);
			});
			assertThat(this.runs).hasValue(3);
		});
	}

	@Test
	void areRunAgainIfTheyHaveFailed() {
		withTemplate((template) -> {
			assertThatIllegalStateException().isThrownBy(() -> execute(template, "k", () -> template.step("one", () -> {
				this.runs.incrementAndGet();
				throw new IllegalStateException("The step fails");
			})));
			execute(template, "k", () -> template.step("one", this.runs::incrementAndGet));
			assertThat(this.runs).hasValue(2);
		});
	}

	@Test
	void belongToTheKeyOfTheirRun() {
		withTemplate((template) -> {
			for (String key : List.of("k", "l")) {
				assertThatIllegalStateException().isThrownBy(() -> execute(template, key, () -> {
					template.step("one", this.runs::incrementAndGet);
					throw new IllegalStateException("The process dies");
				}));
			}
			assertThat(this.runs).hasValue(2);
		});
	}

	@Test
	void workInAnAnnotatedMethodAndRefuseOtherArguments() {
		this.application.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.fail(true);
			assertThatIllegalStateException().isThrownBy(() -> shop.place("k", 1));
			assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> shop.place("k", 2));
			shop.fail(false);
			assertThat(shop.place("k", 1)).isEqualTo("1 in run 1");
			assertThat(shop.runs()).isOne();
		});
	}

	@Test
	void giveEachRunTheResultAsReadFromItsJson() {
		withTemplate((template) -> {
			var type = new ParameterizedTypeReference<List<Line>>() {
			}.getType();
			for (int run = 0; run < 2; run++) {
				assertThatIllegalStateException().isThrownBy(() -> execute(template, "k", () -> {
					Line line = new Line("one", 1);
					List<Line> lines = template.step("lines", type, () -> new ArrayList<>(List.of(line)));
					assertThat(lines).containsExactly(line);
					assertThat(lines.get(0)).isNotSameAs(line);
					throw new IllegalStateException("The process dies");
				}));
			}
		});
	}

	@Test
	void failInEachRunIfTheResultCannotBeWritten() {
		withTemplate((template) -> {
			for (int run = 0; run < 2; run++) {
				assertThatExceptionOfType(IdempotencyResultException.class)
					.isThrownBy(() -> execute(template, "k", () -> template.step("one", Loop.class, () -> {
						this.runs.incrementAndGet();
						return new Loop();
					})))
					.withMessageContaining("step 'one'");
			}
			assertThat(this.runs).hasValue(1);
		});
	}

	@Test
	void deriveTheSameKeysWhetherEarlierOnesAreReplayedOrNot() {
		withTemplate((template) -> {
			List<String> first = new ArrayList<>();
			List<String> second = new ArrayList<>();
			assertThatIllegalStateException().isThrownBy(() -> execute(template, "k", () -> {
				template.step("one", () -> first.add(derive()));
				first.add(derive());
				template.step("two", () -> {
					first.add(derive());
					first.add(derive());
					throw new IllegalStateException("The step fails");
				});
			}));
			execute(template, "k", () -> {
				template.step("one", () -> second.add(derive()));
				second.add(derive());
				template.step("two", () -> {
					second.add(derive());
					second.add(derive());
				});
			});
			assertThat(first).hasSize(4).doesNotHaveDuplicates();
			assertThat(second).isEqualTo(first.subList(1, 4));
		});
	}

	@Test
	void restoreTheContextOfTheirRun() {
		withTemplate((template) -> execute(template, "k", () -> {
			IdempotencyContext run = IdempotencyContext.current();
			template.step("one", () -> assertThat(IdempotencyContext.current()).isNotSameAs(run));
			assertThat(IdempotencyContext.current()).isSameAs(run);
		}));
	}

	@Test
	void mayContainIdempotentRunsWithStepsOfTheirOwn() {
		withTemplate((template) -> execute(template, "outer",
				() -> template.step("one", () -> execute(template, "inner", () -> template.step("one", () -> {
				})))));
	}

	@Test
	void areRefusedOutsideARun() {
		withTemplate((template) -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
		})).withMessageContaining("outside an idempotent run"));
	}

	@Test
	void areRefusedAfterTheirRun() {
		withTemplate((template) -> {
			AtomicReference<@Nullable IdempotencyContext> run = new AtomicReference<>();
			execute(template, "k", () -> run.set(IdempotencyContext.current()));
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
		withTemplate((template) -> execute(template.withGuarantee(Guarantee.TRANSACTION), "k",
				() -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
				})).withMessageContaining("Guarantee.TRANSACTION")));
	}

	@Test
	void areRefusedInAnOpenTransaction() {
		this.application.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			execute(template, "k", () -> transaction.executeWithoutResult(
					(status) -> assertThatIllegalStateException().isThrownBy(() -> template.step("one", () -> {
					})).withMessageContaining("open transaction")));
			execute(template, "l", () -> template.step("one", () -> transaction.executeWithoutResult((status) -> {
			})));
		});
	}

	@Test
	void areRefusedWithinAnother() {
		withTemplate((template) -> execute(template, "k", () -> template.step("one",
				() -> assertThatIllegalStateException().isThrownBy(() -> template.step("two", () -> {
				})).withMessageContaining("within another step"))));
	}

	@Test
	void areRefusedWithoutANameOrAResultThatCanBeRecorded() {
		withTemplate((template) -> execute(template, "k", () -> {
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
		withTemplate((template) -> execute(template, "k", () -> {
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

	private void withTemplate(Consumer<IdempotencyTemplate> test) {
		this.application.run((context) -> test.accept(context.getBean(IdempotencyTemplate.class)));
	}

	static void execute(IdempotencyTemplate template, String key, Runnable work) {
		String unused = template.execute("import", key, String.class, () -> {
			work.run();
			return "done";
		});
	}

	private static String derive() {
		IdempotencyContext context = Objects.requireNonNull(IdempotencyContext.current());
		return String.valueOf(context.derive("gateway", CALL, Samples.fingerprint("charge")).key());
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

	record Line(String text, int number) {
	}

	static final class Loop {

		public Loop getSelf() {
			return this;
		}

	}

	static class Shop {

		private final AtomicInteger runs = new AtomicInteger();

		private final Supplier<IdempotencyTemplate> template;

		private boolean failing;

		Shop(ObjectProvider<IdempotencyTemplate> template) {
			this.template = template::getObject;
		}

		public void fail(boolean fails) {
			this.failing = fails;
		}

		public int runs() {
			return this.runs.get();
		}

		@Idempotent(key = "#id", guarantee = Guarantee.LEASE, name = "shop.place")
		public String place(String id, int amount) {
			int run = this.template.get().step("one", Integer.class, this.runs::incrementAndGet);
			if (this.failing) {
				throw new IllegalStateException("The process dies");
			}
			return amount + " in run " + run;
		}

	}

}
