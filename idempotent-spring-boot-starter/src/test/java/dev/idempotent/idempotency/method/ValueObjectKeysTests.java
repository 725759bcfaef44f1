package dev.idempotent.idempotency.method;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys and arguments of types whose JSON does not tell their values apart.
 */
class ValueObjectKeysTests {

	@ParameterizedTest
	@EnumSource(value = Guarantee.class, names = { "LEASE", "TRANSACTION" })
	void areAKeyForEachValue(Guarantee guarantee) {
		MethodApplication.with(Shipping.class).run((context) -> {
			Shipping shipping = context.getBean(Shipping.class);
			for (String id : List.of("1", "2", "3", "2")) {
				assertThat(ship(shipping, guarantee, new OrderId(id))).isEqualTo("shipped " + id);
			}
			assertThat(context.getBean(Effects.class).committed()).containsExactly("1", "2", "3");
		});
	}

	@Test
	void areRefusedIfTheyCannotBeToldApart() {
		MethodApplication.with(Shipping.class).run((context) -> {
			assertThatExceptionOfType(IncomparableValueException.class)
				.isThrownBy(() -> context.getBean(Shipping.class).shipAny(new Object()))
				.withMessageContainingAll("key expression", "Object is a class of the JDK", "#order.id");
			assertThat(context.getBean(Effects.class).runs()).isZero();
		});
	}

	@Test
	void areNoKeyIfTheyAreEmpty() {
		MethodApplication.with(Shipping.class).run((context) -> {
			Shipping shipping = context.getBean(Shipping.class);
			assertThatIllegalArgumentException().isThrownBy(() -> shipping.ship(new OrderId("")))
				.withMessageContaining("yields nothing");
			assertThatIllegalArgumentException().isThrownBy(() -> shipping.shipAny(Optional.empty()))
				.withMessageContaining("yields nothing");
			assertThat(context.getBean(Effects.class).runs()).isZero();
		});
	}

	@Test
	void haveTheFormThatTheApplicationDeclares() {
		MethodApplication.with(Shipping.class)
			.withBean("id", CanonicalForm.class, () -> CanonicalForm.of(OrderId.class, (id) -> id.value().strip()))
			.run((context) -> {
				Shipping shipping = context.getBean(Shipping.class);
				assertThat(shipping.ship(new OrderId(" 1"))).isEqualTo("shipped  1");
				assertThat(shipping.ship(new OrderId("1 "))).isEqualTo("shipped  1");
			});
	}

	@Test
	void areComparedWithWhatJsonHides() {
		MethodApplication.with(Shipping.class).run((context) -> {
			Shipping shipping = context.getBean(Shipping.class);
			shipping.charge("1", new Charge("4111", 10));
			shipping.charge("1", new Charge("4111", 10));
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> shipping.charge("1", new Charge("4242", 10)));
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> shipping.charge("1", new Charge("4111", 11)));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("4111 10");
		});
	}

	@Test
	void areNotReadByTheirComparison() {
		MethodApplication.with(Shipping.class).run((context) -> {
			Shipping shipping = context.getBean(Shipping.class);
			assertThatExceptionOfType(IncomparableValueException.class)
				.isThrownBy(() -> shipping.load("1", new CsvFile(List.of("a", "b").iterator())))
				.withMessageContainingAll("'rows'", ".rows", "'ignore'", "CanonicalForm");
			assertThat(shipping.loadUncompared("1", new CsvFile(List.of("a", "b").iterator()))).isEqualTo(2);
			assertThat(context.getBean(Effects.class).committed()).containsExactly("a", "b");
		});
	}

	@Test
	void areTheSameSetInEachOrder() {
		MethodApplication.with(Shipping.class).run((context) -> {
			Shipping shipping = context.getBean(Shipping.class);
			assertThat(shipping.shipAll(new LinkedHashSet<>(List.of("a", "b")), Map.of()))
				.isEqualTo(shipping.shipAll(new LinkedHashSet<>(List.of("b", "a")), Map.of()));
			assertThat(context.getBean(Effects.class).runs()).isOne();
		});
	}

	private static String ship(Shipping shipping, Guarantee guarantee, OrderId id) {
		return (guarantee == Guarantee.LEASE) ? shipping.ship(id) : shipping.shipInTransaction(id);
	}

	/**
	 * As with Lombok's fluent accessors: its JSON is an empty object.
	 */
	static final class OrderId {

		private final String value;

		OrderId(String value) {
			this.value = value;
		}

		String value() {
			return this.value;
		}

	}

	record Charge(@JsonProperty(access = JsonProperty.Access.WRITE_ONLY) String card, @JsonIgnore int amount) {
	}

	record CsvFile(Iterator<String> rows) implements Iterable<String> {

		@Override
		public Iterator<String> iterator() {
			return this.rows;
		}

	}

	static class Shipping {

		private final Effects effects;

		Shipping(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(name = "ship", key = "#id", guarantee = Guarantee.LEASE)
		public String ship(OrderId id) {
			this.effects.add(id.value());
			return "shipped " + id.value();
		}

		@Transactional
		@Idempotent(name = "ship-in-transaction", key = "#id", guarantee = Guarantee.TRANSACTION)
		public String shipInTransaction(OrderId id) {
			this.effects.add(id.value());
			return "shipped " + id.value();
		}

		@Idempotent(name = "ship-any", key = "#order")
		public void shipAny(Object order) {
			this.effects.add("any");
		}

		@Idempotent(name = "charge", key = "#id")
		public void charge(String id, Charge charge) {
			this.effects.add(charge.card() + " " + charge.amount());
		}

		@Idempotent(name = "load", key = "#id")
		public int load(String id, Iterable<String> rows) {
			return loadAll(rows);
		}

		@Idempotent(name = "load-uncompared", key = "#id", ignore = "rows")
		public int loadUncompared(String id, Iterable<String> rows) {
			return loadAll(rows);
		}

		private int loadAll(Iterable<String> rows) {
			int count = 0;
			for (String row : rows) {
				this.effects.add(row);
				count++;
			}
			return count;
		}

		@Idempotent(name = "ship-all", key = "#ids")
		public int shipAll(Set<String> ids, Map<String, String> notes) {
			return this.effects.add(ids.toString());
		}

	}

}
