package dev.idempotent.idempotency.canonical;

import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.lang.reflect.Modifier;
import java.math.MathContext;
import java.math.RoundingMode;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.chrono.HijrahDate;
import java.time.chrono.JapaneseDate;
import java.time.chrono.MinguoDate;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.GregorianCalendar;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Scanner;
import java.util.SimpleTimeZone;
import java.util.StringJoiner;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.xml.datatype.DatatypeConfigurationException;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.namespace.QName;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * No type of the JDK is compared in a wrong way: each is known, or refused.
 */
@SuppressWarnings({ "JavaUtilDate", "UnnecessaryStringBuilder" })
class JdkTypesTests {

	private static final Instant NOW = Instant.parse("2026-01-01T00:00:00.123456789Z");

	private final CanonicalValues values = new CanonicalValues(List.of());

	/**
	 * Three values each, of which the first two are equal.
	 */
	static Stream<Object[]> known() {
		return Stream.of(new Object[] { LocalDateTime.MIN, LocalDateTime.MIN, LocalDateTime.MAX },
				new Object[] { LocalTime.NOON, LocalTime.of(12, 0), LocalTime.MIDNIGHT },
				new Object[] { OffsetTime.MIN, OffsetTime.MIN, OffsetTime.MAX },
				new Object[] { ZonedDateTime.ofInstant(NOW, ZoneOffset.UTC),
						ZonedDateTime.ofInstant(NOW, ZoneOffset.UTC), ZonedDateTime.ofInstant(NOW, ZoneId.of("UTC")) },
				new Object[] { ZoneId.of("Europe/Paris"), ZoneId.of("Europe/Paris"), ZoneId.of("Europe/Berlin") },
				new Object[] { Year.of(1), Year.of(1), Year.of(2) },
				new Object[] { YearMonth.of(1, 1), YearMonth.of(1, 1), YearMonth.of(1, 2) },
				new Object[] { MonthDay.of(1, 1), MonthDay.of(1, 1), MonthDay.of(1, 2) },
				new Object[] { Period.ofDays(30), Period.ofDays(30), Period.ofMonths(1) },
				new Object[] { DayOfWeek.MONDAY, DayOfWeek.of(1), DayOfWeek.SUNDAY },
				new Object[] { Month.MAY, Month.of(5), DayOfWeek.FRIDAY },
				new Object[] { Date.from(NOW), Date.from(NOW), Date.from(NOW.plusMillis(1)) },
				new Object[] { Timestamp.from(NOW), Timestamp.from(NOW), Timestamp.from(NOW.plusNanos(1)) },
				new Object[] { new java.sql.Date(1), new java.sql.Time(1), new java.sql.Date(2) },
				new Object[] { new Date(1), new Timestamp(1), Timestamp.from(Instant.ofEpochMilli(1).plusNanos(1)) },
				new Object[] { Currency.getInstance("EUR"), Currency.getInstance("EUR"), Currency.getInstance("USD") },
				new Object[] { Locale.GERMANY, Locale.forLanguageTag("de-DE"), Locale.GERMAN },
				new Object[] { URI.create("a:b"), URI.create("a:b"), URI.create("a:c") },
				new Object[] { Path.of("a"), Path.of("a"), Path.of("b") },
				new Object[] { new File("a"), new File("a"), "a" },
				new Object[] { StandardCharsets.UTF_8, StandardCharsets.UTF_8, StandardCharsets.US_ASCII },
				new Object[] { String.class, String.class, Object.class },
				new Object[] { BitSet.valueOf(new byte[] { 1 }), BitSet.valueOf(new byte[] { 1, 0 }),
						BitSet.valueOf(new byte[] { 2 }) },
				new Object[] { new byte[] { 1 }, new byte[] { 1 }, new int[] { 1 } },
				new Object[] { new long[] { 1 }, new long[] { 1 }, new Long[] { 1L } },
				new Object[] { new StringBuilder("a"), "a", "b" }, new Object[] { 'a', 'a', 'b' },
				new Object[] { OptionalInt.of(1), OptionalInt.of(1), OptionalInt.empty() },
				new Object[] { Optional.empty(), Optional.empty(), Optional.of("") },
				new Object[] { Map.entry("a", 1), new SimpleEntry<>("a", 1), Map.entry("a", 2) },
				new Object[] { EnumSet.of(Month.MAY), new TreeSet<>(List.of(Month.MAY)), EnumSet.of(Month.JUNE) },
				new Object[] { new EnumMap<>(Map.of(Month.MAY, 1)), Map.of(Month.MAY, 1), Map.of(Month.JUNE, 1) },
				new Object[] { new ArrayDeque<>(List.of(1, 2)), List.of(1, 2), new ArrayDeque<>(List.of(2, 1)) },
				new Object[] { new PriorityQueue<>(List.of(1, 2)), new PriorityQueue<>(List.of(2, 1)),
						new PriorityQueue<>(List.of(1, 1)) },
				new Object[] { new CopyOnWriteArrayList<>(List.of(1)), Collections.singletonList(1), List.of(2) },
				new Object[] { new ConcurrentHashMap<>(Map.of(1, 2)), Map.of(1, 2), Map.of(2, 1) },
				new Object[] { new Properties(), Map.of(), Map.of("a", "") },
				new Object[] { TimeZone.getTimeZone("UTC"), TimeZone.getTimeZone("UTC"),
						TimeZone.getTimeZone("Europe/Berlin") },
				new Object[] { TimeZone.getTimeZone("UTC"), TimeZone.getTimeZone("UTC"), moved("UTC") },
				new Object[] { address("::1"), address("0:0:0:0:0:0:0:1"), address("127.0.0.1") },
				new Object[] { address("127.0.0.1"), address("127.0.0.1"), address("127.0.0.2") },
				new Object[] { ByteBuffer.wrap(new byte[] { 1, 2 }, 1, 1), direct((byte) 2), direct((byte) 1) },
				new Object[] { JapaneseDate.of(2026, 1, 1), JapaneseDate.of(2026, 1, 1), MinguoDate.of(115, 1, 1) },
				new Object[] { HijrahDate.of(1447, 1, 1), HijrahDate.of(1447, 1, 1), HijrahDate.of(1447, 1, 2) },
				new Object[] { MathContext.DECIMAL32, new MathContext(7, RoundingMode.HALF_EVEN), new MathContext(7) },
				new Object[] { Pattern.compile("a"), Pattern.compile("a"), Pattern.compile("a", Pattern.DOTALL) },
				new Object[] { new QName("a", "b", "c"), new QName("a", "b"), new QName("", "{a}b") },
				new Object[] { xmlDate("2026-01-01Z"), xmlDate("2026-01-01Z"), xmlDate("2026-01-02Z") },
				new Object[] { calendar(1, "UTC"), calendar(1, "UTC"), calendar(2, "UTC") },
				new Object[] { calendar(1, "UTC"), calendar(1, "UTC"), calendar(1, "Europe/Berlin") });
	}

	private static TimeZone moved(String id) {
		TimeZone zone = TimeZone.getTimeZone(id);
		zone.setRawOffset(1);
		return zone;
	}

	private static InetAddress address(String text) {
		try {
			return InetAddress.getByName(text);
		}
		catch (UnknownHostException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static ByteBuffer direct(byte content) {
		return ByteBuffer.allocateDirect(1).put(0, content);
	}

	private static XMLGregorianCalendar xmlDate(String text) {
		try {
			return DatatypeFactory.newInstance().newXMLGregorianCalendar(text);
		}
		catch (DatatypeConfigurationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Calendar calendar(long millis, String zone) {
		Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone(zone));
		calendar.setTimeInMillis(millis);
		return calendar;
	}

	static Stream<Object> refused() {
		return Stream.of(new Object(), new AtomicBoolean(), new AtomicReference<>(1), new LongAdder(),
				new StringReader("a"), new Scanner("a"), new StringJoiner(","), new SimpleTimeZone(1, "UTC"),
				CompletableFuture.completedFuture(1), Thread.currentThread(), List.of(1).iterator(), Stream.of(1),
				HexFormat.of(), new Exception(), Locale.LanguageRange.parse("de").get(0));
	}

	@ParameterizedTest
	@MethodSource("known")
	void areComparedAsEqualsDoes(Object one, Object equal, Object other) {
		assertThat(encode(one)).isEqualTo(encode(equal)).isNotEqualTo(encode(other));
	}

	@Test
	void arePathsOfTheirFileSystem(@TempDir Path dir) throws IOException {
		Map<String, String> create = Map.of("create", "true");
		try (FileSystem monday = FileSystems.newFileSystem(dir.resolve("monday.zip"), create);
				FileSystem tuesday = FileSystems.newFileSystem(dir.resolve("tuesday.zip"), create)) {
			Path path = monday.getPath("/orders.csv");
			assertThat(encode(path)).isEqualTo(encode(monday.getPath("/orders.csv")))
				.isNotEqualTo(encode(tuesday.getPath("/orders.csv")))
				.isNotEqualTo(encode(monday.getPath("orders.csv")))
				.isNotEqualTo(encode(Path.of("/orders.csv")));
		}
	}

	@ParameterizedTest
	@MethodSource("refused")
	void areRefusedIfTheyAreNoValues(Object value) {
		assertThatExceptionOfType(IncomparableValueException.class).isThrownBy(() -> encode(value))
			.withMessageContaining("of the JDK");
	}

	@Test
	void areReadWithoutAnEffect() {
		ByteBuffer buffer = ByteBuffer.wrap(new byte[] { 1, 2 }, 1, 1);
		assertThat(encode(buffer)).isEqualTo(encode(buffer));
		assertThat(buffer.position()).isOne();
	}

	/**
	 * Of all concrete classes of the JDK that are not scalars, only collections and the
	 * like have a form.
	 */
	@Test
	void haveNoFormUnlessTheyAreScalarsOrContainers() throws IOException {
		try (Stream<Path> files = Files
			.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base/java"))) {
			List<Class<?>> concrete = files.map(Path::toString)
				.filter((file) -> file.endsWith(".class") && !file.contains("$"))
				.map((file) -> file.substring(file.indexOf("java/"), file.length() - ".class".length())
					.replace('/', '.'))
				.<Class<?>>map(JdkTypesTests::load)
				.filter((type) -> type != Object.class && Modifier.isPublic(type.getModifiers())
						&& !Modifier.isAbstract(type.getModifiers()))
				.filter((type) -> !type.isEnum() && !Map.class.isAssignableFrom(type)
						&& !Collection.class.isAssignableFrom(type) && !CharSequence.class.isAssignableFrom(type)
						&& !type.getName().startsWith("java.util.Optional") && KnownTypes.scalar(type) == null)
				.toList();
			assertThat(concrete).hasSizeGreaterThan(300)
				.allSatisfy((type) -> assertThat(this.values.obstacle(type)).as(type.getName()).isNotNull());
		}
	}

	private static Class<?> load(String name) {
		try {
			return Class.forName(name, false, null);
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String encode(Object value) {
		return HexFormat.of().formatHex(this.values.encode(Object.class, value, OmittedMembers.NONE));
	}

}
