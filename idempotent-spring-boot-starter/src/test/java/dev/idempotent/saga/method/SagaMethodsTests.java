package dev.idempotent.saga.method;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the keys, the arguments and the results of saga methods.
 */
class SagaMethodsTests {

	@Test
	void runOncePerKey() {
		with((checkout, desk) -> {
			Receipt first = checkout.place(new Command("1", new BigDecimal("1.10"), null));
			assertThat(checkout.place(new Command("1", new BigDecimal("1.10"), null))).isEqualTo(first);
			assertThat(checkout.place(new Command("2", new BigDecimal("1.10"), null))).isNotEqualTo(first);
			assertThat(checkout.seen()).hasSize(2);
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> checkout.place(new Command("1", new BigDecimal("2"), null)));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> checkout.place(new Command(" ", BigDecimal.ONE, null)))
				.withMessageContainingAll("Checkout.place", "yields nothing");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> checkout.place(new Command("\ud83d", BigDecimal.ONE, null)))
				.withMessageContaining("half of a character");
		});
	}

	@Test
	void getTheirArgumentsAsTheyAreReadBack() {
		with((checkout, desk) -> {
			Command command = new Command("1", new BigDecimal("1.10"), null);
			checkout.place(command);
			assertThat(checkout.seen()).singleElement().isEqualTo(command).isNotSameAs(command);
			checkout.count(Map.of("a", List.of(new Command("2", BigDecimal.TEN, null))), 7, null);
			assertThat(checkout.counted()).isEqualTo("{a=[Command[id=2, total=10, token=null]]} 7 null");
		});
	}

	@Test
	void refuseAnArgumentThatCannotBeReadBack() {
		with((checkout, desk) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> checkout.unreadable("1", new Text("x")))
				.withMessageContainingAll("argument 'opaque'", "Checkout.unreadable", "Opaque")
				.withMessageNotContaining("x\"");
			assertThat(checkout.seen()).isEmpty();
		});
	}

	@Test
	void refuseAnArgumentOfWhichJsonLeavesOutAPart() {
		with((checkout, desk) -> {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> checkout.place(new Command("1", BigDecimal.ONE, "secret")))
				.withMessageContainingAll("argument 'command'", "not the same when it is read back", "token")
				.withMessageNotContaining("secret");
			assertThat(checkout.seen()).isEmpty();
		});
	}

	@Test
	void haveAKeyForEachValueObject() {
		with((checkout, desk) -> {
			checkout.byNumber(new OrderNumber("1"));
			checkout.byNumber(new OrderNumber("2"));
			checkout.byNumber(new OrderNumber("2"));
			assertThat(checkout.numbers()).containsExactly("1", "2");
		});
	}

	@Test
	void haveTheKeyOfTheRunTheyAreCalledIn() {
		with((checkout, desk) -> {
			String first = desk.serve("r-1", () -> checkout.greet("first"));
			assertThat(first).isEqualTo("first!");
			assertThat(desk.serve("r-2", () -> checkout.greet("other"))).isEqualTo("other!");
		});
	}

	@Test
	void countTheArgumentsOfTheFirstCallUnderTheKeyOfARun() {
		with((checkout, desk) -> {
			assertThatIllegalStateException().isThrownBy(() -> desk.serve("r-1", () -> {
				checkout.greet("first");
				throw new IllegalStateException("fails after the saga");
			}));
			assertThat(desk.serve("r-1", () -> checkout.greet("second"))).isEqualTo("first!");
		});
	}

	@Test
	void refuseASecondCallUnderTheKeyOfARun() {
		with((checkout, desk) -> assertThatIllegalStateException().isThrownBy(() -> desk.serve("r-1", () -> {
			checkout.greet("first");
			return checkout.greet("second");
		})).withMessageContainingAll("Checkout.greet", "twice"));
	}

	@Test
	void refuseACallWithoutAnyKey() {
		with((checkout, desk) -> assertThatIllegalStateException().isThrownBy(() -> checkout.greet("hello"))
			.withMessageContainingAll("Checkout.greet", "no key", "@Idempotent run"));
	}

	private static void with(BiConsumer<Checkout, Desk> test) {
		SagaApplication.with(Checkout.class, Desk.class)
			.run((context) -> test.accept(context.getBean(Checkout.class), context.getBean(Desk.class)));
	}

	record Command(String id, BigDecimal total, @JsonIgnore @Nullable String token) {
	}

	record Receipt(int number) {
	}

	interface Opaque {

		String text();

	}

	record Text(String text) implements Opaque {
	}

	/**
	 * Jackson reads its fields, and finds no getter.
	 */
	@JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.ANY)
	static final class OrderNumber {

		private final String value;

		@JsonCreator
		OrderNumber(@JsonProperty("value") String value) {
			this.value = value;
		}

		String value() {
			return this.value;
		}

	}

	static class Checkout {

		private final List<Command> seen = new ArrayList<>();

		private final List<String> numbers = new ArrayList<>();

		private @Nullable String counted;

		private final SagaSteps saga;

		Checkout(SagaSteps saga) {
			this.saga = saga;
		}

		List<Command> seen() {
			return this.seen;
		}

		List<String> numbers() {
			return this.numbers;
		}

		@Nullable String counted() {
			return this.counted;
		}

		@Saga(key = "#command.id", name = "Checkout.place")
		public Receipt place(Command command) {
			return this.saga.step("place", Receipt.class).runInTransaction(() -> {
				this.seen.add(command);
				return new Receipt(this.seen.size());
			});
		}

		@Saga(key = "#number", name = "Checkout.count")
		public void count(Map<String, List<Command>> commands, long number, @Nullable String note) {
			this.saga.step("count").run(() -> {
				this.counted = commands + " " + number + " " + note;
			});
		}

		@Saga(key = "#number", name = "Checkout.byNumber")
		public void byNumber(OrderNumber number) {
			this.saga.step("number").run(() -> {
				this.numbers.add(number.value());
			});
		}

		@Saga(key = "#id", name = "Checkout.unreadable")
		public void unreadable(String id, Opaque opaque) {
			this.saga.step("never").run(() -> {
			});
		}

		@Saga(name = "Checkout.greet")
		public String greet(String name) {
			return this.saga.step("greet", String.class).run(() -> name + "!");
		}

	}

	static class Desk {

		@Idempotent(key = "#id", ignore = "work", name = "desk.serve")
		public String serve(String id, Supplier<String> work) {
			return work.get();
		}

	}

}
