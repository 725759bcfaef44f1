package dev.idempotent.idempotency.canonical;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares {@link CanonicalValues} with {@code equals} for random values.
 */
class CanonicalValuesFuzzTests {

	private static final int VALUES = 10_000;

	private final CanonicalValues values = new CanonicalValues(List.of());

	@Test
	void encodesEqualValuesAlikeAndAllOthersDifferently() {
		Map<String, Object> known = new HashMap<>();
		int changed = 0;
		for (int seed = 0; seed < VALUES; seed++) {
			Object value = new RandomValues(seed, 1, -1).next();
			Object equal = new RandomValues(seed, 2, -1).next();
			assertThat(equal).as("seed %s", seed).isEqualTo(value);
			assertThat(encode(equal)).as("seed %s", seed).isEqualTo(encode(value));
			Object other = new RandomValues(seed, 3, seed % 7).next();
			assertThat(encode(other).equals(encode(value))).as("seed %s: %s, %s", seed, value, other)
				.isEqualTo(other.equals(value));
			changed += other.equals(value) ? 0 : 1;
			Object known1 = known.putIfAbsent(encode(value), value);
			assertThat(known1 == null || known1.equals(value)).as("seed %s: %s, %s", seed, value, known1).isTrue();
		}
		assertThat(changed).isGreaterThan(VALUES / 3);
		assertThat(known).hasSizeGreaterThan(VALUES / 10);
	}

	@Test
	void findsADifferenceIfAndOnlyIfThereIsOne() {
		for (int seed = 0; seed < VALUES / 10; seed++) {
			Object value = new RandomValues(seed, 1, -1).next();
			Object other = new RandomValues(seed, 3, seed % 7).next();
			assertThat(this.values.difference(Object.class, value, other) == null)
				.as("seed %s: %s, %s", seed, value, other)
				.isEqualTo(other.equals(value));
		}
	}

	/**
	 * The order of immutable sets and maps, and the hash of enums, differ between JVMs.
	 */
	@Test
	void encodesAlikeInAnotherJvm() throws Exception {
		Process other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), RandomValues.class.getName(),
				"1000")
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		String digest = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(other.waitFor()).isZero();
		assertThat(digest).isEqualTo(RandomValues.digest(1_000));
	}

	private String encode(Object value) {
		return HexFormat.of().formatHex(this.values.encode(Object.class, value, OmittedMembers.NONE));
	}

	/**
	 * Random values of random types whose {@code equals} is right. Equal seeds yield
	 * equal values whose sets and maps are built in another order.
	 */
	static final class RandomValues {

		private static final String[] TEXTS = { "", "a", "A", "1", "true", "null", "\u0000", "é", "e\u0301",
				"\ud83d\ude00", "\ud83d", "a\nb", "longer than the others", ".", "0" };

		private final Random random;

		private final Random order;

		/**
		 * How many leaves are drawn before one is changed.
		 */
		private int untilChange;

		RandomValues(long seed, long order, int untilChange) {
			this.random = new Random(seed);
			this.order = new Random(order);
			this.untilChange = untilChange;
		}

		/**
		 * Prints a digest of the canonical forms of many values, to compare JVMs.
		 * @param arguments the number of values
		 */
		public static void main(String[] arguments) throws Exception {
			System.out.print(digest(Integer.parseInt(arguments[0])));
		}

		static String digest(int count) throws Exception {
			CanonicalValues values = new CanonicalValues(List.of());
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (int seed = 0; seed < count; seed++) {
				Object value = new RandomValues(seed, System.nanoTime(), -1).next();
				digest.update(values.encode(Object.class, value, OmittedMembers.NONE));
			}
			return HexFormat.of().formatHex(digest.digest());
		}

		Object next() {
			return next(4);
		}

		private Object next(int depth) {
			return switch ((depth == 0) ? 0 : this.random.nextInt(10)) {
				case 1 -> list(depth - 1);
				case 2 -> new LinkedHashSet<>(shuffled(list(depth - 1)));
				case 3 -> map(depth - 1);
				case 4 -> (this.random.nextInt(4) == 0) ? Optional.empty() : Optional.of(next(depth - 1));
				case 5 ->
					new Order(text(), this.random.nextBoolean() ? null : leaf(), lines(), whole(), flag(), name());
				case 6 -> new Envelope<>(next(depth - 1), text());
				case 7 -> payment();
				case 9 -> Map.entry(next(depth - 1), next(depth - 1));
				case 8 -> new Customer(text(), payment(), new TreeMap<>(Map.of(text(), whole())));
				default -> leaf();
			};
		}

		private Payment payment() {
			return this.random.nextBoolean() ? new ByCard(text(), whole()) : new ByIban(text(), whole());
		}

		private List<Object> list(int depth) {
			List<Object> list = new ArrayList<>();
			for (int i = this.random.nextInt(4); i > 0; i--) {
				list.add(next(depth));
			}
			return list;
		}

		private List<Line> lines() {
			List<Line> lines = new ArrayList<>();
			for (int i = this.random.nextInt(3); i > 0; i--) {
				lines.add(new Line(text(), new BigDecimal(whole()).movePointLeft(2).stripTrailingZeros(), name()));
			}
			return lines;
		}

		private Map<Object, Object> map(int depth) {
			Set<Object> keys = new LinkedHashSet<>(list(0));
			Map<Object, Object> values = new LinkedHashMap<>();
			keys.forEach((key) -> values.put(key, next(depth)));
			Map<Object, Object> map = new LinkedHashMap<>();
			shuffled(new ArrayList<>(keys)).forEach((key) -> map.put(key, Objects.requireNonNull(values.get(key))));
			return map;
		}

		private List<Object> shuffled(List<Object> list) {
			List<Object> shuffled = new ArrayList<>(list);
			Collections.shuffle(shuffled, this.order);
			return shuffled;
		}

		private Object leaf() {
			return switch (this.random.nextInt(11)) {
				case 0 -> whole();
				case 1 -> flag();
				case 2 -> new UUID(0, whole());
				case 3 -> Instant.ofEpochSecond(whole());
				case 4 -> LocalDate.EPOCH.plusDays(whole());
				case 5 -> OffsetDateTime.ofInstant(Instant.EPOCH, ZoneOffset.ofHours((int) (whole() % 18)));
				case 6 -> name();
				case 10 -> whole() + 0.1;
				case 7 -> Duration.ofMillis(whole());
				case 8 -> BigInteger.valueOf(whole()).shiftLeft(70).add(BigInteger.ONE);
				default -> text();
			};
		}

		private boolean isChanged() {
			return this.untilChange-- == 0;
		}

		private String text() {
			String text = TEXTS[this.random.nextInt(TEXTS.length)];
			return isChanged() ? text + "." : text;
		}

		private long whole() {
			long number = this.random.nextInt(4) * 10L;
			return isChanged() ? number + 1 : number;
		}

		private boolean flag() {
			return this.random.nextBoolean() ^ isChanged();
		}

		private Name name() {
			int ordinal = this.random.nextInt(Name.values().length - 1);
			return Name.values()[isChanged() ? ordinal + 1 : ordinal];
		}

		enum Name {

			A, B, TRUE, NULL

		}

		interface Payment {

		}

		record ByCard(String number, long amount) implements Payment {
		}

		record ByIban(String number, long amount) implements Payment {
		}

		record Line(String item, BigDecimal price, Name name) {
		}

		record Envelope<T>(T payload, String id) {
		}

		record Order(String id, @Nullable Object note, List<Line> lines, long total, boolean gift, Name name) {
		}

		/**
		 * A class as it was written before there were records, without getters.
		 */
		static class Person {

			private final String id;

			Person(String id) {
				this.id = id;
			}

			@Override
			public boolean equals(@Nullable Object other) {
				return other instanceof Person person && this.id.equals(person.id);
			}

			@Override
			public int hashCode() {
				return this.id.hashCode();
			}

			@Override
			public String toString() {
				return new String(this.id.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
			}

		}

		static final class Customer extends Person {

			private final Payment payment;

			private final Map<String, Long> points;

			Customer(String id, Payment payment, Map<String, Long> points) {
				super(id);
				this.payment = payment;
				this.points = points;
			}

			@Override
			public boolean equals(@Nullable Object other) {
				return super.equals(other) && other instanceof Customer customer
						&& this.payment.equals(customer.payment) && this.points.equals(customer.points);
			}

			@Override
			public int hashCode() {
				return super.hashCode();
			}

		}

	}

}
