package dev.idempotent.idempotency.canonical;

import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.sun.management.ThreadMXBean;
import dev.idempotent.idempotency.CanonicalForm;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import net.bytebuddy.ByteBuddy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.util.MimeType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link CanonicalValues}.
 */
@SuppressWarnings({ "UnusedVariable", "NullableOptional" }) // Fields are read by
															// reflection.
class CanonicalValuesTests {

	private final CanonicalValues values = new CanonicalValues(List.of());

	@Test
	void tellsValueObjectsApartWhateverTheirAccessorsAreCalled() {
		assertDifferent(new FluentId("1"), new FluentId("2"));
		assertDifferent(new Card("4111", 1), new Card("4111", 2));
		assertDifferent(new Card("4111", 1), new Card("4242", 1));
		assertEqual(new Card("4111", 1), new Card("4111", 1));
	}

	@Test
	void tellsFieldsOfSuperclassesApartWhoseSimpleNamesAreEqual() {
		assertDifferent(new Bond("a", null), new Bond(null, "a"));
	}

	@Test
	void comparesMediaTypesAndHeadersAsTheirEqualsDoes() {
		assertEqual(MediaType.parseMediaType("text/plain;charset=utf-8"),
				MediaType.parseMediaType("TEXT/plain; Charset=\"UTF-8\""),
				new MimeType("text", "plain", StandardCharsets.UTF_8));
		assertEqual(MediaType.parseMediaType("a/b;x=1;y=2"), MediaType.parseMediaType("a/b;y=2;x=1"));
		assertDifferent(MediaType.parseMediaType("a/b;x=1"), MediaType.parseMediaType("a/b;x=2"),
				MediaType.parseMediaType("a/b"), MediaType.parseMediaType("a/b;X=\"1\""));
		HttpHeaders headers = new HttpHeaders();
		headers.setContentType(MediaType.APPLICATION_JSON);
		HttpHeaders read = HttpHeaders.readOnlyHttpHeaders(headers);
		assertThat(read.getContentType()).isEqualTo(MediaType.APPLICATION_JSON);
		HttpHeaders lower = new HttpHeaders();
		lower.add("content-type", "application/json");
		assertEqual(headers, read, HttpHeaders.readOnlyHttpHeaders(headers), lower);
		HttpHeaders other = new HttpHeaders();
		other.setContentType(MediaType.TEXT_PLAIN);
		assertDifferent(headers, other, new HttpHeaders());
	}

	@Test
	void comparesNumbersByValue() {
		assertEqual(1, 1L, (short) 1, 1.0, 1.0f, BigDecimal.ONE, new BigDecimal("1.00"), BigInteger.ONE);
		assertEqual(new BigDecimal("1e3"), 1000, new BigDecimal("1000.0"));
		assertEqual(0, -0.0, 0.0, new BigDecimal("0e7"));
		assertEqual(0.1, new BigDecimal("0.1"), 0.1f);
		assertDifferent(9007199254740993L, 9007199254740992L);
		assertDifferent(0.1, Math.nextUp(0.1));
		assertDifferent(Double.NaN, Double.POSITIVE_INFINITY);
		assertDifferent(10, 100, 1, -1, 0, "1");
	}

	@Test
	void expandsNoNumber() {
		assertDifferent(new BigDecimal("1e999999999"), new BigDecimal("1e999999998"));
	}

	@Test
	void tellsTypesApartWhereTheDeclaredOneDoesNot() {
		UUID id = UUID.randomUUID();
		assertDifferent(id, id.toString());
		assertDifferent("A", 'A', Letter.A, List.of("A"), Set.of("A"), Optional.of("A"), new Object[] { "A" },
				new String[] { "A" });
		assertDifferent(new ByCard("1"), new ByIban("1"), Map.of("number", "1"));
		assertDifferent(true, "true", 1);
		assertDifferent(List.of(1, 2), List.of(2, 1), List.<Object>of(List.of(1), 2), List.of(List.of(1, 2)));
	}

	@Test
	void ordersSetsAndMaps() {
		List<String> names = Stream.iterate(0, (i) -> i + 1).limit(50).map(Object::toString).toList();
		List<String> reversed = new ArrayList<>(names);
		Collections.reverse(reversed);
		assertEqual(new LinkedHashSet<>(names), new LinkedHashSet<>(reversed), new HashSet<>(names), Set.copyOf(names));
		Map<String, Object> map = new LinkedHashMap<>();
		names.forEach((name) -> map.put(name, List.of(name)));
		Map<String, Object> other = new LinkedHashMap<>();
		reversed.forEach((name) -> other.put(name, List.of(name)));
		assertEqual(map, other, new TreeMap<>(map), new HashMap<>(map));
		assertEqual(new ArrayList<>(names), names, new CopyOnWriteArrayList<>(names));
		assertEqual(map.values(), other.values());
	}

	@Test
	void leavesOutMembersThatAnEarlierReleaseDidNotHave() {
		assertThat(bytes(Before.class, new Before("1")))
			.isEqualTo(bytes(After.class, new After("1", null, 0, false, Optional.empty())));
		assertDifferent(new After("1", null, 0, false, Optional.empty()),
				new After("1", "", 0, false, Optional.empty()), new After("1", null, 1, false, Optional.empty()),
				new After("1", null, 0, true, Optional.empty()), new After("1", null, 0, false, Optional.of("")),
				new After("1", null, 0, false, null));
	}

	@Test
	void comparesMembersThatJsonHides() {
		assertDifferent(new Hidden("4111", 5), new Hidden("4242", 5), new Hidden("4111", 6));
	}

	@Test
	void keepsOffsetsAndScalars() {
		assertDifferent(OffsetDateTime.parse("2026-01-01T00:00+01:00"), OffsetDateTime.parse("2025-12-31T23:00Z"));
		assertEqual(Instant.parse("2026-01-01T00:00:00Z"), Instant.ofEpochSecond(1767225600));
	}

	@Test
	void comparesHalfCharacters() {
		assertDifferent("\ud83d", "\ude00", "?", "\ufffd");
		assertDifferent("é", "e\u0301", "\u00e9\u0000");
	}

	@Test
	void iteratesNothingThatIsNoCollection() {
		AtomicInteger read = new AtomicInteger();
		Iterable<String> once = () -> {
			read.incrementAndGet();
			return List.of("a").iterator();
		};
		assertRefused(once, "is a lambda or a generated class");
		assertRefused(new Rows(List.of("a").iterator()), "at .rows", "of the JDK");
		assertThat(read).hasValue(0);
		// Its state tells more than its elements.
		assertDifferent(new Range(1, 3), new Range(1, 4));
	}

	@ParameterizedTest
	@MethodSource
	void refusesWhatItCannotSee(Object value, String reason) {
		assertRefused(value, reason);
		assertRefused(List.of(Map.of("a", new Holder(value))), "at [0][].value", reason);
	}

	static Stream<Object[]> refusesWhatItCannotSee() {
		return Stream.of(new Object[] { new Object(), "of the JDK" },
				new Object[] { new ByteArrayInputStream(new byte[0]), "of the JDK" },
				new Object[] { List.of(1).iterator(), "of the JDK" }, new Object[] { Stream.of(1), "of the JDK" },
				new Object[] { (Supplier<String>) () -> "", "is a lambda" },
				new Object[] { new AtomicLong(), "of the JDK" }, new Object[] { new ReentrantLock(), "of the JDK" },
				new Object[] { new RuntimeException(), "of the JDK" },
				new Object[] { new Failure(), "whose state cannot be read" },
				new Object[] { new Order(), "is a persistent entity" },
				new Object[] { new Batch(), "extends java.util.ArrayList" },
				new Object[] { new Cached("a"), "transient fields" },
				new Object[] { Proxy.newProxyInstance(Holder.class.getClassLoader(),
						new Class<?>[] { Comparable.class }, (proxy, method, arguments) -> 0), "is a proxy" });
	}

	@Test
	void refusesWhatDependsOnMoreThanItsFields() {
		assertRefused(new Object() {

			private final String name = "a";

			@Override
			public String toString() {
				return this.name + CanonicalValuesTests.this.hashCode();
			}

		}, "inner, local or anonymous class");
		assertRefused(new LabelledDate(), "extends java.util.Date");
	}

	@Test
	void comparesCollectionsOfTheApplicationByTheirMembers() {
		assertDifferent(new Basket("alice", List.of("a")), new Basket("bob", List.of("a")),
				new Basket("bob", List.of()));
	}

	@Test
	void encodesNoKeyThatMayChange() {
		assertThatExceptionOfType(IncomparableValueException.class).isThrownBy(() -> this.values.encodeKey(new Node()))
			.withMessageContaining("fields that are not final");
		assertThat(this.values.encodeKey(new FluentId("1"))).isNotEqualTo(this.values.encodeKey(new FluentId("2")));
	}

	@Test
	void tellsEmptyRecordsApartByTheirClass() {
		assertDifferent(new None(), new Nothing());
		assertThat(this.values.obstacle(Discount.class)).isNull();
	}

	@Test
	void tellsABooleanFromAnEntry() {
		assertDifferent(List.<Object>of(true, "a", "b"), List.of(Map.entry("a", "b")));
		assertDifferent(new ConcurrentLinkedQueue<>(List.of(1, 2)), new ConcurrentLinkedQueue<>(List.of(2, 1)));
	}

	/**
	 * Java 17 writes other digits of them than Java 25.
	 */
	@Test
	void writesBinaryNumbersAlikeInEachVersionOfJava() {
		assertEqual(Double.parseDouble("1.0E23"), new BigDecimal("1.0E23"));
		assertEqual(2.0E-3f, new BigDecimal("0.002"));
	}

	@Test
	void knowsWhatIdentifiesNothing() {
		assertThat(List.<Object>of("", List.of(), new FluentId(""), Optional.empty(), Optional.of(" "), new None(),
				Arrays.asList(null, " ")))
			.noneMatch(this.values::hasContent);
		assertThat(List.<Object>of(0, false, "a", new FluentId("a"), Optional.of(0), Arrays.asList(null, 1), Letter.A,
				new Line("", 0), UUID.randomUUID(), Map.of("a", 1)))
			.allMatch(this.values::hasContent);
	}

	@Test
	void tellsClassesWithoutFieldsApartWhereTheDeclaredTypeDoesNot() {
		assertDifferent(new Marker(), new Cash(), new ByCash(new Cash()), new ByCash(new Coins()));
		assertEqual(new ByCash(new Cash()), new ByCash(new Cash()));
		assertThat(this.values.obstacle(ByCash.class)).isNull();
		assertThat(this.values.obstacle(Cash.class)).contains("has no fields");
		assertThatExceptionOfType(IncomparableValueException.class)
			.isThrownBy(() -> this.values.encode(Cash.class, new Cash(), OmittedMembers.NONE))
			.withMessageContaining("has no fields");
		assertThatExceptionOfType(IncomparableValueException.class).isThrownBy(() -> this.values.encodeKey(new Cash()))
			.withMessageContaining("has no fields");
		assertThat(this.values.encodeKey(List.of(new Cash(), "1")))
			.isNotEqualTo(this.values.encodeKey(List.of(new Coins(), "1")));
		assertRefused(new Object() {
		}, "local or anonymous class");
	}

	/**
	 * As each class of Groovy has.
	 */
	@Test
	void leavesOutTransientFieldsThatACompilerAdds() throws ReflectiveOperationException {
		Class<?> type = new ByteBuddy().subclass(Object.class)
			.name("com.shop.Refund")
			.defineField("id", String.class, Modifier.PUBLIC)
			.defineField("metaClass", Object.class, Modifier.PRIVATE | Modifier.TRANSIENT | 0x1000)
			.make()
			.load(getClass().getClassLoader())
			.getLoaded();
		Object one = type.getConstructor().newInstance();
		Object other = type.getConstructor().newInstance();
		type.getField("id").set(other, "1");
		assertDifferent(one, other);
		assertEqual(one, type.getConstructor().newInstance());
	}

	@Test
	void refusesCycles() {
		Node node = new Node();
		node.next = node;
		assertRefused(node, "contains itself", ".next.next...");
		assertThatExceptionOfType(IncomparableValueException.class).isThrownBy(() -> bytes(Object.class, node))
			.satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(200));
		List<Object> list = new ArrayList<>();
		list.add(list);
		assertRefused(list, "contains itself");
	}

	@Test
	void refusesWhatContainsOneObjectTooOften() {
		Object value = "x".repeat(100);
		for (int i = 0; i < 60; i++) {
			value = List.of(value, value);
		}
		assertRefused(value, "is larger than");
	}

	@Test
	void omitsMembers() {
		OmittedMembers omitted = OmittedMembers.of(List.of("/sentAt", "/lines/0/price", "/notes/a~1b"));
		assertThat(this.values.encode(Object.class, message("1", 5, "x"), omitted))
			.isEqualTo(this.values.encode(Object.class, message("2", 6, "y"), omitted))
			.isNotEqualTo(bytes(Object.class, message("1", 5, "x")));
	}

	private static Map<String, Object> message(String sentAt, int price, String note) {
		return Map.<String, Object>of("sentAt", sentAt, "lines", List.of(new Line("a", price), new Line("b", 1)),
				"notes", Map.of("a/b", note));
	}

	@Test
	void usesTheFormOfTheClosestType() {
		CanonicalValues declared = new CanonicalValues(List.of(CanonicalForm.of(Account.class, (account) -> "any"),
				CanonicalForm.of(ByIban.class, ByIban::number)));
		assertThat(declared.encode(Object.class, new ByCard("1"), OmittedMembers.NONE))
			.isEqualTo(declared.encode(Object.class, new ByCard("2"), OmittedMembers.NONE));
		assertThat(declared.encode(Object.class, new ByIban("1"), OmittedMembers.NONE))
			.isNotEqualTo(declared.encode(Object.class, new ByIban("2"), OmittedMembers.NONE));
	}

	@Test
	void refusesTwoFormsOfWhichNoneIsCloser() {
		CanonicalValues declared = new CanonicalValues(List.<CanonicalForm<?>>of(
				CanonicalForm.of(Labelled.class, Labelled::label), CanonicalForm.of(Numbered.class, Numbered::number),
				CanonicalForm.of(Both.class, Both::toString)));
		for (Object value : List.<Object>of(new Sticker("a", 1), Badge.GOLD)) {
			assertThatExceptionOfType(IncomparableValueException.class)
				.isThrownBy(() -> declared.encode(Object.class, value, OmittedMembers.NONE))
				.withMessageContainingAll("two forms", Labelled.class.getName(), Numbered.class.getName(),
						"a CanonicalForm for the class itself");
			assertThat(declared.obstacle(value.getClass())).contains("two forms");
		}
		assertThat(declared.encode(Object.class, new Both("a", 1), OmittedMembers.NONE)).isNotEmpty();
		assertThat(declared.obstacle(Both.class)).isNull();
	}

	@Test
	void refusesAFormThatIsNone() {
		CanonicalValues declared = new CanonicalValues(List.of(CanonicalForm.of(ByCard.class, (card) -> card)));
		assertThatExceptionOfType(IncomparableValueException.class)
			.isThrownBy(() -> declared.encode(Object.class, new ByCard("1"), OmittedMembers.NONE))
			.withMessageContaining("CanonicalForm");
	}

	@Test
	void refusesFormsThatNeedEachOther() {
		CanonicalValues declared = new CanonicalValues(
				List.of(CanonicalForm.of(ByCard.class, (card) -> new ByIban(card.number())),
						CanonicalForm.of(ByIban.class, (iban) -> new ByCard(iban.number()))));
		assertThatExceptionOfType(IncomparableValueException.class)
			.isThrownBy(() -> declared.encode(Object.class, new ByCard("1"), OmittedMembers.NONE))
			.withMessageContaining("contains itself");
	}

	@Test
	void findsDifferencesOfResults() {
		assertThat(difference(Map.<String, Object>of("a", new BigDecimal("1.5")), Map.<String, Object>of("a", 1.5)))
			.isEqualTo("[]");
		assertThat(difference(new Line("a", 1), new Line("a", 2))).isEqualTo(".price");
		assertThat(difference(List.of(new Line("a", 1), new Line("b", 2)), List.of(new Line("a", 1), new Line("c", 2))))
			.isEqualTo("[1].name");
		assertThat(difference(new Line("a", 1), Map.<String, Object>of("name", "a", "price", 1))).isEmpty();
		assertThat(difference(new After("1", "a", 1, true, null), new After("1", null, 1, true, null)))
			.isEqualTo(".note");
		assertThat(difference(new After("1", null, 1, true, null), new After("1", "a", 1, true, null)))
			.isEqualTo(".note");
		assertThat(difference(new ByCard("1"), new ByIban("1"))).isEmpty();
		assertThat(difference(null, "a")).isEmpty();
		assertThat(difference(null, null)).isNull();
		assertThat(difference(new Order(), new Order())).isNull();
		assertThat(difference(List.of(1), Arrays.asList(1))).isNull();
	}

	/**
	 * Memory is measured, since it does not depend on the load of the machine.
	 */
	@Test
	void findsADifferenceAtTheCostOfAComparison() {
		List<Line> one = new ArrayList<>();
		IntStream.range(0, 20_000).forEach((i) -> one.add(new Line("name" + i, i)));
		List<Line> other = new ArrayList<>(one);
		long comparison = allocated(() -> assertThat(difference(one, new ArrayList<>(one))).isNull());
		other.set(19_999, new Line("a", 1));
		long search = allocated(() -> assertThat(difference(one, other)).isEqualTo("[19999].name"));
		assertThat(search).isLessThan(3 * comparison);
	}

	private static long allocated(Runnable action) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		action.run();
		long before = threads.getCurrentThreadAllocatedBytes();
		action.run();
		return threads.getCurrentThreadAllocatedBytes() - before;
	}

	@Test
	void comparesResultsThatContainThemselves() {
		Node node = new Node();
		node.next = node;
		Node same = new Node();
		same.next = same;
		Node longer = new Node();
		longer.next = new Node();
		longer.next.next = longer;
		assertThat(difference(node, same)).isNull();
		assertThat(difference(node, longer)).isEqualTo(".next");
	}

	@Test
	void comparesResultsWithoutTheirTransientFields() {
		Cached used = new Cached("a");
		assertThat(used.hashCode()).isNotZero();
		assertThat(difference(used, new Cached("a"))).isNull();
		assertThat(difference(used, new Cached("b"))).isEqualTo(".name");
	}

	@Test
	void comparesASetThatIsReadAsAnyCollection() {
		assertThat(this.values.difference(Collection.class, Set.of("a"), List.of("a"))).isNull();
		assertThat(this.values.difference(Collection.class, Set.of("a"), List.of("b"))).isEqualTo("[0]");
		assertThat(difference(Set.of("a"), List.of("a"))).isEmpty();
	}

	private @Nullable String difference(@Nullable Object one, @Nullable Object other) {
		return this.values.difference(Object.class, one, other);
	}

	private byte[] bytes(Class<?> declared, Object value) {
		return this.values.encode(declared, value, OmittedMembers.NONE);
	}

	private void assertEqual(Object... equal) {
		assertThat(Stream.of(equal).map((value) -> HexFormat.of().formatHex(bytes(Object.class, value))).distinct())
			.hasSize(1);
	}

	private void assertDifferent(Object... different) {
		assertThat(Stream.of(different).map((value) -> HexFormat.of().formatHex(bytes(Object.class, value))))
			.doesNotHaveDuplicates();
	}

	private void assertRefused(Object value, String... parts) {
		assertThatExceptionOfType(IncomparableValueException.class).isThrownBy(() -> bytes(Object.class, value))
			.withMessageContainingAll(parts);
	}

	static final class LabelledDate extends Date {

		private final String label = "a";

	}

	sealed interface Discount permits None, Nothing {

	}

	record None() implements Discount {
	}

	record Nothing() implements Discount {
	}

	enum Letter {

		A

	}

	/**
	 * As with Lombok's fluent accessors, or AutoValue.
	 */
	static final class FluentId {

		private final String value;

		FluentId(String value) {
			this.value = value;
		}

		String value() {
			return this.value;
		}

	}

	static class Instrument {

		private final String number;

		Instrument(String number) {
			this.number = number;
		}

	}

	static final class Card extends Instrument {

		private final int number;

		Card(String number, int sequence) {
			super(number);
			this.number = sequence;
		}

	}

	static final class Bond extends dev.idempotent.idempotency.canonical.outer.Instrument {

		private final String number = "1";

		Bond(@Nullable String inner, @Nullable String outer) {
			super(inner, outer);
		}

	}

	interface Labelled {

		String label();

	}

	interface Numbered {

		int number();

	}

	record Sticker(String label, int number) implements Labelled, Numbered {
	}

	record Both(String label, int number) implements Labelled, Numbered {
	}

	enum Badge implements Labelled, Numbered {

		GOLD;

		@Override
		public String label() {
			return "gold";
		}

		@Override
		public int number() {
			return 1;
		}

	}

	sealed interface Account permits ByCard, ByIban {

		String number();

	}

	record ByCard(String number) implements Account {
	}

	record ByIban(String number) implements Account {
	}

	record Before(String id) {
	}

	record After(String id, @Nullable String note, int count, boolean gift, @Nullable Optional<String> voucher) {
	}

	record Hidden(@JsonProperty(access = JsonProperty.Access.WRITE_ONLY) String card, @JsonIgnore int amount) {
	}

	record Line(String name, int price) {
	}

	record Holder(Object value) {
	}

	static final class Marker {

	}

	sealed interface InCash permits Cash, Coins {

	}

	static final class Cash implements InCash {

	}

	static final class Coins implements InCash {

	}

	record ByCash(InCash cash) {
	}

	record Rows(Iterator<String> rows) implements Iterable<String> {

		@Override
		public Iterator<String> iterator() {
			throw new IllegalStateException("A file can be read once");
		}

	}

	record Range(int from, int to) implements Iterable<Integer> {

		@Override
		public Iterator<Integer> iterator() {
			throw new IllegalStateException("A range is its limits");
		}

	}

	static final class Failure extends RuntimeException {

	}

	static final class Batch extends ArrayList<String> {

		private final String account = "1";

	}

	static final class Cached {

		private final String name;

		private transient int hash;

		Cached(String name) {
			this.name = name;
		}

		@Override
		public int hashCode() {
			this.hash = this.name.hashCode();
			return this.hash;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof Cached cached && this.name.equals(cached.name);
		}

	}

	/**
	 * A list beside a member.
	 */
	static final class Basket extends AbstractCollection<String> {

		private final String customer;

		private final List<String> lines;

		Basket(String customer, List<String> lines) {
			this.customer = customer;
			this.lines = lines;
		}

		@Override
		public Iterator<String> iterator() {
			return this.lines.iterator();
		}

		@Override
		public int size() {
			return this.lines.size();
		}

	}

	static final class Node {

		private @Nullable Node next;

	}

	@Entity
	static class Order {

		@Id
		private Long id = 1L;

	}

}
