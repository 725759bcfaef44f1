package dev.idempotent.idempotency.canonical;

import java.math.MathContext;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.chrono.ChronoLocalDate;
import java.time.chrono.HijrahDate;
import java.time.chrono.JapaneseDate;
import java.time.chrono.MinguoDate;
import java.time.chrono.ThaiBuddhistDate;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TimeZone;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.regex.Pattern;

import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.namespace.QName;

import org.jspecify.annotations.Nullable;

/**
 * Values of the JDK that are rarely members of calls and results, by texts that are
 * different for each two that are not equal.
 */
@SuppressWarnings("JavaUtilDate") // Applications have calendars of this class.
final class JdkScalars {

	/**
	 * The types, and how their values are written.
	 */
	static final Map<Class<?>, BiConsumer<CanonicalBytes, Object>> ALL = all();

	private JdkScalars() {
	}

	private static Map<Class<?>, BiConsumer<CanonicalBytes, Object>> all() {
		Map<Class<?>, BiConsumer<CanonicalBytes, Object>> all = new HashMap<>();
		add(all, TimeZone.class, JdkScalars::text, TimeZone.getTimeZone("UTC").getClass());
		add(all, InetAddress.class, (address) -> HexFormat.of().formatHex(address.getAddress()), Inet4Address.class,
				Inet6Address.class);
		ByteBuffer heap = ByteBuffer.allocate(0);
		ByteBuffer direct = ByteBuffer.allocateDirect(0);
		add(all, ByteBuffer.class, JdkScalars::remaining, heap.getClass(), heap.asReadOnlyBuffer().getClass(),
				direct.getClass(), direct.asReadOnlyBuffer().getClass());
		add(all, ChronoLocalDate.class, (date) -> date.getChronology().getId() + ' ' + date.toEpochDay(),
				JapaneseDate.class, HijrahDate.class, MinguoDate.class, ThaiBuddhistDate.class);
		add(all, Pattern.class, (pattern) -> pattern.flags() + " " + pattern);
		add(all, MathContext.class, Object::toString);
		add(all, GregorianCalendar.class, JdkScalars::text);
		if (find("javax.xml.namespace.QName") != null) {
			Xml.addTo(all);
		}
		return Map.copyOf(all);
	}

	@SafeVarargs
	private static <T> void add(Map<Class<?>, BiConsumer<CanonicalBytes, Object>> all, Class<T> type,
			Function<T, String> text, Class<? extends T>... subclasses) {
		BiConsumer<CanonicalBytes, Object> scalar = KnownTypes.textual(type.getSimpleName(),
				(value) -> text.apply(type.cast(value)));
		all.put(type, scalar);
		for (Class<?> subclass : subclasses) {
			all.put(subclass, scalar);
		}
	}

	/**
	 * A zone of the JDK is known by its id, unless the application has changed it.
	 */
	private static String text(TimeZone zone) {
		return zone.equals(TimeZone.getTimeZone(zone.getID())) ? zone.getID()
				: zone.getID() + ' ' + zone.getRawOffset();
	}

	/**
	 * The bytes between the position and the limit, which stay where they are.
	 */
	private static String remaining(ByteBuffer buffer) {
		byte[] bytes = new byte[buffer.remaining()];
		buffer.duplicate().get(bytes);
		return HexFormat.of().formatHex(bytes);
	}

	private static String text(GregorianCalendar calendar) {
		TimeZone zone = calendar.getTimeZone();
		if (!ALL.containsKey(zone.getClass())) {
			throw new IncomparableValueException("its time zone is a " + zone.getClass().getName());
		}
		return calendar.getTimeInMillis() + " " + calendar.isLenient() + ' ' + calendar.getFirstDayOfWeek() + ' '
				+ calendar.getMinimalDaysInFirstWeek() + ' ' + calendar.getGregorianChange().getTime() + ' '
				+ text(zone);
	}

	private static @Nullable Class<?> find(String name) {
		try {
			return Class.forName(name);
		}
		catch (ClassNotFoundException ex) {
			return null;
		}
	}

	/**
	 * Loaded only if the module of XML is present.
	 */
	private static final class Xml {

		static void addTo(Map<Class<?>, BiConsumer<CanonicalBytes, Object>> all) {
			add(all, QName.class, (name) -> name.getNamespaceURI().length() + " " + name);
			Class<?> ofJdk = find("com.sun.org.apache.xerces.internal.jaxp.datatype.XMLGregorianCalendarImpl");
			if (ofJdk != null) {
				add(all, XMLGregorianCalendar.class, XMLGregorianCalendar::toXMLFormat,
						ofJdk.asSubclass(XMLGregorianCalendar.class));
			}
		}

	}

}
