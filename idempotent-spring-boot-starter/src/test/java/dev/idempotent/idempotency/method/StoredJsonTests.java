package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonBackReference;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonManagedReference;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.method.StoredJson.LostValueException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Values that are stored as JSON are read as they were, by each release, or not at all.
 */
@SuppressWarnings({ "JavaUtilDate", "UnusedVariable" })
class StoredJsonTests {

	private final CanonicalValues values = new CanonicalValues(List.of());

	private JsonMapper application = JsonMapper.shared();

	@Test
	void leavesOutWhatATypeComputes() {
		Invoice invoice = new Invoice();
		invoice.amounts.add(BigDecimal.TEN);
		assertThat(stored(Invoice.class, invoice)).contains("amounts").doesNotContain("total");
		assertThat(stored(Basket.class, new Basket(List.of("a")))).isEqualTo("{\"items\":[\"a\"]}");
		assertThat(stored(Shipment.class, new Shipment(List.of(new Basket(List.of("a")), new Basket(List.of())))))
			.isEqualTo("{\"baskets\":[{\"items\":[\"a\"]},{\"items\":[]}]}");
		assertThat(stored(Payment.class, new ByCard("1"))).contains("number").doesNotContain("masked");
	}

	/**
	 * A retry may come later than what it tells.
	 */
	@Test
	void readsWhatComputesMembersOfTheTime() {
		String stored = stored(Voucher.class, new Voucher("a"));
		Voucher.reads.set(0);
		assertThat(read(Voucher.class, stored)).isEqualTo(new Voucher("a"));
		assertThat(stored).doesNotContain("reads");
	}

	@Test
	void storesNothingThatIsReadDifferently() {
		assertThatExceptionOfType(LostValueException.class)
			.isThrownBy(() -> stored(Hidden.class, new Hidden("1", "1234")))
			.satisfies((ex) -> assertThat(ex.place()).isEqualTo("pin"));
		assertThatExceptionOfType(LostValueException.class).isThrownBy(
				() -> stored(json().constructType(Map.class), Map.<String, Object>of("price", new BigDecimal("1.5"))));
	}

	@ParameterizedTest
	@MethodSource
	void readsNoOtherValueInALaterRelease(Object value, Class<?> later) {
		String stored = stored(value.getClass(), value);
		assertThatException().isThrownBy(() -> read(later, stored))
			.isInstanceOfAny(LostValueException.class, JacksonException.class);
	}

	static Stream<Object[]> readsNoOtherValueInALaterRelease() {
		return Stream.of(new Object[] { new Total(BigDecimal.TEN, "1"), LenientAmount.class },
				new Object[] { new Total(BigDecimal.TEN, "1"), Computed.class },
				new Object[] { new Millis(1_700_000_000_000L), At.class },
				new Object[] { new Count(200), SmallCount.class }, new Object[] { new Real(0.123456789), Rough.class },
				new Object[] { new Total(new BigDecimal("12.75"), "1"), Whole.class },
				new Object[] { new Maybe(null), Count.class }, new Object[] { new Old(OldState.PAID), New.class },
				new Object[] { new Tags(List.of("a", "b", "a")), UniqueTags.class });
	}

	@Test
	void readsNoConstantThatIsGoneWhateverTheMapper() {
		this.application = JsonMapper.builder().enable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL).build();
		String stored = stored(Old.class, new Old(OldState.PAID));
		assertThatException().isThrownBy(() -> read(New.class, stored));
	}

	@ParameterizedTest
	@MethodSource
	void readsTheSameValueInALaterRelease(Object value, Object later) {
		assertThat(read(later.getClass(), stored(value.getClass(), value))).isEqualTo(later);
	}

	static Stream<Object[]> readsTheSameValueInALaterRelease() {
		return Stream.of(
				new Object[] { new Total(BigDecimal.TEN, "1"),
						new CountedTotal(BigDecimal.TEN, "1", 0, false, null, null) },
				new Object[] { new Count(7), new LongCount(7) }, new Object[] { new Count(7), new RealCount(7) },
				new Object[] { new Total(BigDecimal.TEN, "1"), new Renamed(BigDecimal.TEN, "1") },
				new Object[] { new Total(BigDecimal.TEN, null), new Fewer(BigDecimal.TEN) },
				new Object[] { new Tags(List.of("b", "a")), new UniqueTags(new TreeSet<>(Set.of("a", "b"))) });
	}

	@Test
	void readsSetsInTheirOrder() {
		Set<Integer> order = new LinkedHashSet<>(List.of(3, 1, 2));
		JavaType type = json().constructType(new TypeReference<Set<Integer>>() {
		});
		assertThat(List.copyOf((Set<?>) read(type, stored(type, order)))).isEqualTo(List.of(3, 1, 2));
	}

	@Test
	void readsSetsWhoseOrderIsAnother() {
		Set<Basket> many = new HashSet<>();
		IntStream.range(0, 1_000).forEach((i) -> many.add(new Basket(List.of("item" + i))));
		JavaType type = json().constructType(new TypeReference<HashSet<Basket>>() {
		});
		assertThat(read(type, stored(type, many))).isEqualTo(many);
		String reversed = "[{\"items\":[\"b\"],\"old\":null},{\"items\":[\"a\"],\"old\":null}]";
		assertThat(read(type, reversed)).isEqualTo(Set.of(new Basket(List.of("a")), new Basket(List.of("b"))));
	}

	@Test
	void readsAListForACollection() {
		JavaType type = json().constructType(new TypeReference<Collection<String>>() {
		});
		assertThat(read(type, stored(type, Set.of("a", "b")))).isInstanceOf(List.class);
	}

	@Test
	void readsReferencesToWhatContainsThem() {
		Order order = new Order();
		Line line = new Line();
		line.order = order;
		order.lines.add(line);
		Order again = (Order) read(Order.class, stored(Order.class, order));
		assertThat(again.lines.get(0).order).isSameAs(again);
	}

	@Test
	void readsMarkersAndTransientFields() {
		assertThat(read(Marker.class, stored(Marker.class, new Marker()))).isInstanceOf(Marker.class);
		Aggregate aggregate = new Aggregate();
		aggregate.id = "1";
		aggregate.events.add("created");
		assertThat(((Aggregate) read(Aggregate.class, stored(Aggregate.class, aggregate))).id).isEqualTo("1");
	}

	@ParameterizedTest
	@MethodSource
	void readsWhatItWritesWhateverTheApplicationHasSet(UnaryOperator<JsonMapper.Builder> settings) {
		this.application = settings.apply(JsonMapper.builder()).build();
		Settings value = new Settings(new Date(1), LocalDateTime.parse("2026-01-01T00:00:00.123"), List.of("a"),
				List.of(), null, Unit.KILOGRAM, Map.of(Unit.KILOGRAM, 1), TimeZone.getTimeZone("Europe/Berlin"));
		assertThat(read(Settings.class, stored(Settings.class, value))).isEqualTo(value);
	}

	static Stream<Named<UnaryOperator<JsonMapper.Builder>>> readsWhatItWritesWhateverTheApplicationHasSet() {
		return Stream.of(
				Named.of("a format of dates",
						(json) -> json.defaultDateFormat(new SimpleDateFormat("yyyy-MM-dd HH:mm:ss"))),
				Named.of("a root name", (json) -> json.enable(SerializationFeature.WRAP_ROOT_VALUE)),
				Named.of("unwrapped arrays",
						(json) -> json.enable(SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED)),
				Named.of("no empty arrays", (json) -> json.disable(SerializationFeature.WRITE_EMPTY_JSON_ARRAYS)),
				Named.of("no null", (json) -> json.enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)),
				Named.of("formats of types",
						(json) -> json.withConfigOverride(LocalDateTime.class,
								(type) -> type.setFormat(JsonFormat.Value.forPattern("dd.MM.yyyy HH:mm")))),
				Named.of("no empty values of types",
						(json) -> json.withConfigOverride(List.class,
								(type) -> type.setInclude(JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY,
										JsonInclude.Include.NON_EMPTY)))),
				Named.of("constants by their text",
						(json) -> json.enable(EnumFeature.WRITE_ENUMS_USING_TO_STRING)
							.disable(EnumFeature.READ_ENUMS_USING_TO_STRING)),
				Named.of("constants by their index", (json) -> json.enable(EnumFeature.WRITE_ENUMS_USING_INDEX)),
				Named.of("unknown members", (json) -> json.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)));
	}

	@Test
	void knowsTypesThatCannotBeVerified() {
		JavaType type = json().constructType(new TypeReference<Map<String, List<Counter>>>() {
		});
		assertThat(new StoredJson(json(), this.values, type).obstacle()).contains("'count' of", "AtomicInteger");
		assertThat(new StoredJson(json(), this.values, json().constructType(Order.class)).obstacle()).isNull();
		assertThat(new StoredJson(json(), this.values, json().constructType(Aggregate.class)).obstacle()).isNull();
		assertThat(new StoredJson(json(), this.values, json().constructType(Marker.class)).obstacle()).isNull();
	}

	private JsonMapper json() {
		return StoredJson.mapper(this.application);
	}

	private String stored(Class<?> type, Object value) {
		return stored(json().constructType(type), value);
	}

	private String stored(JavaType type, Object value) {
		StoredJson stored = new StoredJson(json(), this.values, type);
		return new String(stored.verify(value, stored.write(value)), StandardCharsets.UTF_8);
	}

	private Object read(Class<?> type, String stored) {
		return read(json().constructType(type), stored);
	}

	private Object read(JavaType type, String stored) {
		return Objects
			.requireNonNull(new StoredJson(json(), this.values, type).read(stored.getBytes(StandardCharsets.UTF_8)));
	}

	static class Invoice {

		public List<BigDecimal> amounts = new ArrayList<>();

		public BigDecimal getTotal() {
			return this.amounts.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
		}

	}

	record Basket(List<String> items) {

		public boolean isEmpty() {
			return this.items.isEmpty();
		}

	}

	record Shipment(List<Basket> baskets) {
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME)
	sealed interface Payment permits ByCard {

	}

	record ByCard(String number) implements Payment {

		public String getMasked() {
			return "*" + this.number;
		}

	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record Voucher(String id) {

		private static final AtomicInteger reads = new AtomicInteger();

		public int getReads() {
			return reads.incrementAndGet();
		}

	}

	record Hidden(String id, @JsonIgnore @Nullable String pin) {
	}

	record Total(BigDecimal total, @Nullable String id) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record LenientAmount(BigDecimal amount, String id) {
	}

	/**
	 * Still has the accessor of the member that was renamed.
	 */
	record Computed(@Nullable BigDecimal net, String id) {

		public @Nullable BigDecimal getTotal() {
			return this.net;
		}

	}

	record CountedTotal(BigDecimal total, String id, int count, boolean gift, @Nullable String note,
			@Nullable List<String> lines) {
	}

	record Renamed(@JsonAlias("total") BigDecimal sum, String id) {
	}

	record Fewer(BigDecimal total) {
	}

	record Whole(long total, String id) {
	}

	record Millis(long at) {
	}

	record At(Instant at) {
	}

	record Count(int count) {
	}

	record Maybe(@Nullable Integer count) {
	}

	record SmallCount(byte count) {
	}

	record LongCount(long count) {
	}

	record RealCount(double count) {
	}

	record Real(double value) {
	}

	record Rough(float value) {
	}

	record Tags(List<String> tags) {
	}

	record UniqueTags(Set<String> tags) {
	}

	enum OldState {

		PAID

	}

	enum NewState {

		SETTLED

	}

	record Old(OldState state) {
	}

	record New(@Nullable NewState state) {
	}

	enum Unit {

		KILOGRAM;

		@Override
		public String toString() {
			return "kg";
		}

	}

	record Settings(Date at, LocalDateTime due, List<String> one, List<String> none, @Nullable String missing,
			Unit unit, Map<Unit, Integer> amounts, TimeZone zone) {
	}

	static class Order {

		@JsonManagedReference
		public List<Line> lines = new ArrayList<>();

	}

	static class Line {

		@JsonBackReference
		public @Nullable Order order;

	}

	static class Marker {

	}

	static class Aggregate {

		public @Nullable String id;

		private final transient List<Object> events = new ArrayList<>();

	}

	record Counter(AtomicInteger count) {
	}

}
