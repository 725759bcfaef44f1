package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the steps of {@link IdempotencyTemplate}.
 */
class StepTests {

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
