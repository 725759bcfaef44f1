package dev.idempotent.idempotency.canonical;

import java.io.File;
import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.charset.Charset;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.BitSet;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Future;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.CanonicalForm;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MimeType;

/**
 * The values that are known by their class, and the classes whose values cannot be
 * compared.
 */
@SuppressWarnings("JavaUtilDate") // Applications have dates of this class.
final class KnownTypes {

	/**
	 * The values that consist of no others.
	 */
	private static final Map<Class<?>, BiConsumer<CanonicalBytes, Object>> SCALARS = scalars();

	private static final List<Class<?>> OPTIONALS = List.of(Optional.class, OptionalInt.class, OptionalLong.class,
			OptionalDouble.class);

	/**
	 * The collections that an object-relational mapper loads when they are read, and the
	 * methods that tell whether it has.
	 */
	private static final Map<String, String> LAZY = Map.of("org.hibernate.collection.spi.PersistentCollection",
			"wasInitialized", "org.eclipse.persistence.indirection.IndirectContainer", "isInstantiated");

	/**
	 * What containers pass to a listener beside the message, and frameworks to a tool
	 * beside its arguments: handles, and headers that differ between two attempts.
	 */
	private static final Set<String> OF_FRAMEWORKS = Set.of("org.springframework.kafka.support.Acknowledgment",
			"org.apache.kafka.clients.consumer.Consumer",
			"org.springframework.kafka.listener.adapter.ConsumerRecordMetadata", "com.rabbitmq.client.Channel",
			"jakarta.jms.Session", "org.springframework.messaging.MessageHeaders",
			"org.springframework.messaging.support.MessageHeaderAccessor",
			"io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement",
			"io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement",
			"io.awspring.cloud.sqs.listener.Visibility", "kotlin.coroutines.Continuation",
			"org.springframework.ai.mcp.annotation.McpMeta");

	/**
	 * What an application hands to a tool beside the arguments of the model, such as a
	 * tenant, and the method that returns it.
	 */
	private static final Map<String, String> CONTEXTS = Map.of("org.springframework.ai.chat.model.ToolContext",
			"getContext", "org.springframework.ai.mcp.annotation.context.McpRequestContextTypes", "transportContext",
			"io.modelcontextprotocol.server.McpSyncServerExchange", "transportContext",
			"io.modelcontextprotocol.server.McpAsyncServerExchange", "transportContext");

	private static final String TRANSPORT_CONTEXT = "io.modelcontextprotocol.common.McpTransportContext";

	/**
	 * The entries of a context that do not decide what a tool does: the conversation,
	 * which is in the scope of keys, and what was said before the call.
	 */
	private static final Set<String> NOT_COMPARED = Set.of("chat_memory_conversation_id", "TOOL_CALL_HISTORY");

	/**
	 * The messages of brokers and the requests of agents, and what they ask for: other
	 * members differ between two attempts.
	 */
	private static final Map<String, Map<String, String>> MESSAGES = Map.of("org.springframework.messaging.Message",
			Map.of("payload", "getPayload"), "org.apache.kafka.clients.consumer.ConsumerRecord",
			Map.of("key", "key", "value", "value"), "org.springframework.amqp.core.Message", Map.of("body", "getBody"),
			"jakarta.jms.TextMessage", Map.of("text", "getText"), "software.amazon.awssdk.services.sqs.model.Message",
			Map.of("body", "body"), "io.modelcontextprotocol.spec.McpSchema$CallToolRequest",
			Map.of("name", "name", "arguments", "arguments"));

	/**
	 * Headers of HTTP, whose names ignore case. Those that are read only keep some
	 * parsed.
	 */
	private static final String HTTP_HEADERS = "org.springframework.http.HttpHeaders";

	private static final BiConsumer<CanonicalBytes, Object> MEDIA_TYPE = textual("MimeType",
			(type) -> mediaType((MimeType) type));

	/**
	 * The packages of libraries whose collections and texts consist of nothing but their
	 * elements.
	 */
	private static final List<String> LIBRARIES = List.of("com.google.common.collect.", "org.springframework.util.",
			"org.springframework.http.", "org.springframework.messaging.", "org.hibernate.collection.",
			"org.eclipse.collections.", "org.eclipse.persistence.indirection.", "org.apache.commons.collections4.",
			"org.apache.avro.util.", "it.unimi.dsi.fastutil.", "kotlin.collections.", "scala.collection.",
			"groovy.lang.", "org.codehaus.groovy.");

	/**
	 * The types of the container and of files, whose content cannot be seen or is
	 * consumed when it is read.
	 */
	private static final Set<String> UNREADABLE = Set.of("jakarta.servlet.http.Part", "jakarta.servlet.ServletRequest",
			"jakarta.servlet.ServletResponse", "jakarta.servlet.http.HttpSession",
			"org.springframework.core.io.InputStreamSource", "org.springframework.web.context.request.WebRequest");

	/**
	 * The interfaces of what can be read once, arrives later, or is an action.
	 */
	private static final List<Class<?>> NO_VALUES = List.of(Iterator.class, Enumeration.class, Spliterator.class,
			BaseStream.class, Future.class, CompletionStage.class, Runnable.class, Callable.class, Lock.class);

	/**
	 * Parts of the names of classes that are generated at run time.
	 */
	private static final List<String> PROXIES = List.of("$$SpringCGLIB$$", "$$EnhancerBy", "$HibernateProxy",
			"$MockitoMock$", "_$$_");

	private static final String ENTITY = "jakarta.persistence.Entity";

	private static final Set<String> WITH_CACHES = Set.of("com.google.protobuf.MessageLite",
			"com.google.protobuf.ByteString");

	/**
	 * Messages whose members differ between two deliveries, and whose content has no
	 * common form.
	 */
	private static final Set<String> OTHER_MESSAGES = Set.of("jakarta.jms.Message");

	private KnownTypes() {
	}

	static @Nullable BiConsumer<CanonicalBytes, Object> scalar(Class<?> type) {
		BiConsumer<CanonicalBytes, Object> known = SCALARS.get(type);
		if (known == null && MimeType.class.isAssignableFrom(type)) {
			return MEDIA_TYPE;
		}
		if (known == null && Path.class.isAssignableFrom(type) && isJdk(type)) {
			return SCALARS.get(Path.class);
		}
		if (known == null && ZoneId.class.isAssignableFrom(type)) {
			return SCALARS.get(ZoneId.class);
		}
		return (known == null && Charset.class.isAssignableFrom(type)) ? SCALARS.get(Charset.class) : known;
	}

	static boolean isOptional(Class<?> type) {
		return OPTIONALS.contains(type);
	}

	/**
	 * Returns whether values of a class are compared by what they contain. A class of the
	 * application may have members beside that.
	 */
	static boolean isContainer(Class<?> type) {
		return isOptional(type) || ((isJdk(type) || LIBRARIES.stream().anyMatch(type.getName()::startsWith))
				&& (CharSequence.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)
						|| Collection.class.isAssignableFrom(type) || Map.Entry.class.isAssignableFrom(type)));
	}

	static boolean isEmpty(Object optional) {
		return optional.equals(Optional.empty()) || optional.equals(OptionalInt.empty())
				|| optional.equals(OptionalLong.empty()) || optional.equals(OptionalDouble.empty());
	}

	/**
	 * Returns whether a parameter of this type is not part of a call.
	 */
	static boolean isOfFramework(Class<?> type) {
		return isAny(type, OF_FRAMEWORKS);
	}

	static boolean isLazy(Class<?> type) {
		return isAny(type, LAZY.keySet());
	}

	/**
	 * Returns whether the elements of such a collection were loaded before.
	 */
	static boolean isLoaded(Object lazy) {
		return LAZY.values().stream().anyMatch((method) -> {
			try {
				return Boolean.TRUE.equals(lazy.getClass().getMethod(method).invoke(lazy));
			}
			catch (ReflectiveOperationException ex) {
				return false;
			}
		});
	}

	static boolean isEntity(Class<?> type) {
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			for (Annotation annotation : each.getAnnotations()) {
				if (annotation.annotationType().getName().equals(ENTITY)) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Finds the form of the messages of a broker, or of headers.
	 * @return {@code null} for other types
	 */
	static @Nullable CanonicalForm<?> formOf(@Nullable Class<?> type) {
		if (type == null) {
			return null;
		}
		if (type.getName().equals(HTTP_HEADERS)) {
			return CanonicalForm.of(type, (headers) -> byLowerCase(read(headers, type, "headerSet")));
		}
		Map<String, String> members = MESSAGES.get(type.getName());
		if (members != null) {
			return CanonicalForm.of(type, (message) -> {
				Map<String, @Nullable Object> read = new HashMap<>();
				members.forEach((name, accessor) -> read.put(name, read(message, type, accessor)));
				return read;
			});
		}
		String entries = CONTEXTS.get(type.getName());
		if (entries != null) {
			return CanonicalForm.of(type, (context) -> entriesOf(read(context, type, entries)));
		}
		if (type.getName().equals(TRANSPORT_CONTEXT)) {
			return CanonicalForm.of(type, (context) -> entriesOf(mapIn(context)));
		}
		CanonicalForm<?> inherited = formOf(type.getSuperclass());
		return (inherited != null) ? inherited
				: Stream.of(type.getInterfaces())
					.map(KnownTypes::formOf)
					.filter(Objects::nonNull)
					.findFirst()
					.orElse(null);
	}

	/**
	 * Returns the entries of a context. The context of an exchange is read in its turn.
	 */
	private static Object entriesOf(@Nullable Object context) {
		if (!(context instanceof Map<?, ?> entries)) {
			return Objects.requireNonNullElse(context, Map.of());
		}
		Map<Object, @Nullable Object> compared = new HashMap<>(entries);
		compared.keySet().removeIf((name) -> name instanceof String && NOT_COMPARED.contains(name));
		return compared;
	}

	/**
	 * The context of a transport does not tell its entries by a method.
	 */
	private static @Nullable Object mapIn(Object context) {
		for (Field field : context.getClass().getDeclaredFields()) {
			if (!Modifier.isStatic(field.getModifiers()) && Map.class.isAssignableFrom(field.getType())
					&& context.getClass().getName().startsWith("io.modelcontextprotocol.")
					&& field.trySetAccessible()) {
				try {
					return field.get(context);
				}
				catch (IllegalAccessException ex) {
					throw new IncomparableValueException("its entries cannot be read", ex);
				}
			}
		}
		throw new IncomparableValueException("the entries of " + nameOf(context.getClass()) + " cannot be read");
	}

	private static Map<String, Object> byLowerCase(@Nullable Object entries) {
		Map<String, Object> byName = new HashMap<>();
		for (Object each : (Set<?>) Objects.requireNonNull(entries)) {
			Map.Entry<?, ?> header = (Map.Entry<?, ?>) each;
			byName.put(header.getKey().toString().toLowerCase(Locale.ROOT), header.getValue());
		}
		return byName;
	}

	private static @Nullable Object read(Object message, Class<?> type, String accessor) {
		try {
			return type.getMethod(accessor).invoke(message);
		}
		catch (ReflectiveOperationException ex) {
			throw new IncomparableValueException("its " + accessor + " cannot be read", ex);
		}
	}

	/**
	 * Returns why the values of a class cannot be read as the values of their members.
	 * @return the reason, as a predicate, or {@code null} if they can
	 */
	static @Nullable String obstacle(Class<?> type) {
		if (type.isHidden() || type.isSynthetic()) {
			return "is a lambda or a generated class, which has no value";
		}
		if (Proxy.isProxyClass(type) || PROXIES.stream().anyMatch(type.getName()::contains)) {
			return "is a proxy, whose target is unknown";
		}
		String byName = obstacleByName(type);
		return (byName != null) ? byName
				: isJdk(type) ? "is a class of the JDK that is not a value, or whose values cannot be read" : null;
	}

	/**
	 * Returns why the values of a class of a library cannot be compared, as
	 * {@link #obstacle} does.
	 */
	static @Nullable String obstacleByName(Class<?> type) {
		if (isAny(type, UNREADABLE)) {
			return "is a request, a session or a file, whose content cannot be seen";
		}
		if (isAny(type, OTHER_MESSAGES)) {
			return "differs between two deliveries of one message: take its payload";
		}
		return isAny(type, WITH_CACHES) ? "keeps caches beside its value" : null;
	}

	/**
	 * Returns whether there can be values of a class or interface of the JDK that can be
	 * compared.
	 */
	static boolean mayBeComparable(Class<?> declared) {
		if (declared.isInterface()) {
			return NO_VALUES.stream().noneMatch((type) -> type.isAssignableFrom(declared))
					&& !declared.getPackageName().equals("java.util.function");
		}
		return SCALARS.keySet().stream().anyMatch(declared::isAssignableFrom) || declared == Enum.class
				|| declared == Record.class || Collection.class.isAssignableFrom(declared)
				|| Map.class.isAssignableFrom(declared) || Map.Entry.class.isAssignableFrom(declared)
				|| CharSequence.class.isAssignableFrom(declared);
	}

	static boolean isJdk(Class<?> type) {
		String module = type.getModule().getName();
		return module != null && (module.startsWith("java.") || module.startsWith("jdk."));
	}

	/**
	 * Returns the name of a class without its package, for messages.
	 */
	static String nameOf(Class<?> type) {
		return type.getName().substring(type.getName().lastIndexOf('.') + 1);
	}

	/**
	 * Returns whether a queue delivers its elements in another order than that in which
	 * they are stored.
	 */
	static boolean hasOwnOrder(Object queue) {
		return queue instanceof PriorityQueue || queue instanceof PriorityBlockingQueue || queue instanceof DelayQueue;
	}

	private static boolean isAny(@Nullable Class<?> type, Set<String> names) {
		if (type == null) {
			return false;
		}
		if (names.contains(type.getName()) || isAny(type.getSuperclass(), names)) {
			return true;
		}
		for (Class<?> implemented : type.getInterfaces()) {
			if (isAny(implemented, names)) {
				return true;
			}
		}
		return false;
	}

	private static Map<Class<?>, BiConsumer<CanonicalBytes, Object>> scalars() {
		Map<Class<?>, BiConsumer<CanonicalBytes, Object>> scalars = new HashMap<>();
		scalars.put(String.class, (bytes, value) -> bytes.text((String) value));
		scalars.put(Boolean.class, (bytes, value) -> bytes.tag(((Boolean) value) ? 'y' : 'z'));
		for (Class<?> number : List.of(Byte.class, Short.class, Integer.class, Long.class, Float.class, Double.class,
				BigInteger.class, BigDecimal.class)) {
			scalars.put(number, (bytes, value) -> bytes.number((Number) value));
		}
		scalars.put(UUID.class, (bytes, value) -> {
			bytes.tag('u');
			bytes.int64(((UUID) value).getMostSignificantBits());
			bytes.int64(((UUID) value).getLeastSignificantBits());
		});
		scalars.put(byte[].class, (bytes, value) -> {
			bytes.tag('b');
			bytes.bytes((byte[]) value);
		});
		for (Class<?> type : List.of(Character.class, Instant.class, LocalDate.class, LocalTime.class,
				LocalDateTime.class, OffsetDateTime.class, OffsetTime.class, ZonedDateTime.class, Year.class,
				YearMonth.class, MonthDay.class, Duration.class, Period.class, ZoneId.class, Currency.class, URI.class,
				File.class)) {
			text(scalars, type, Object::toString);
		}
		text(scalars, Path.class, KnownTypes::path);
		text(scalars, Locale.class, (locale) -> ((Locale) locale).toLanguageTag() + ' ' + locale);
		text(scalars, Charset.class, (charset) -> ((Charset) charset).name());
		text(scalars, Class.class, (type) -> ((Class<?>) type).getName());
		BiConsumer<CanonicalBytes, Object> date = textual("Date", (value) -> instant((Date) value));
		scalars.put(Date.class, date);
		text(scalars, URL.class, (url) -> ((URL) url).toExternalForm());
		text(scalars, BitSet.class, Object::toString);
		for (String name : List.of("java.sql.Date", "java.sql.Time", "java.sql.Timestamp")) {
			sqlType(name).ifPresent((type) -> scalars.put(type, date));
		}
		scalars.putAll(JdkScalars.ALL);
		return Map.copyOf(scalars);
	}

	/**
	 * Subclasses are equal to a date of the same millisecond. Only a timestamp can have
	 * fractions of a millisecond, and only a timestamp can be converted to an instant:
	 * dates without a time refuse.
	 */
	private static String instant(Date date) {
		String millis = Long.toString(date.getTime());
		if (!date.getClass().getName().equals("java.sql.Timestamp")) {
			return millis;
		}
		long beyond = Duration.between(Instant.ofEpochMilli(date.getTime()), date.toInstant()).toNanos();
		return (beyond == 0) ? millis : millis + "+" + beyond;
	}

	/**
	 * Two file systems, such as archives, may have the same paths.
	 */
	private static String path(Object value) {
		Path path = (Path) value;
		return path.getFileSystem().equals(FileSystems.getDefault()) ? path.toString() : path + " in " + path.toUri();
	}

	/**
	 * Parameters have no order, and names of charsets ignore case.
	 */
	private static String mediaType(MimeType type) {
		SortedMap<String, String> parameters = new TreeMap<>();
		type.getParameters().forEach((name, value) -> parameters.put(name.toLowerCase(Locale.ROOT), value));
		if (type.getCharset() != null) {
			parameters.put("charset", type.getCharset().name());
		}
		return type.getType() + "/" + type.getSubtype() + parameters;
	}

	/**
	 * A module path need not have the module of JDBC.
	 */
	private static Optional<Class<?>> sqlType(String name) {
		try {
			return Optional.of(Class.forName(name));
		}
		catch (ClassNotFoundException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Adds a type whose text is different for each two values that are not equal.
	 */
	private static void text(Map<Class<?>, BiConsumer<CanonicalBytes, Object>> scalars, Class<?> type,
			Function<Object, String> text) {
		scalars.put(type, textual(type.getSimpleName(), text));
	}

	static BiConsumer<CanonicalBytes, Object> textual(String name, Function<Object, String> text) {
		return (bytes, value) -> {
			bytes.tag('s');
			bytes.text(name);
			bytes.text(text.apply(value));
		};
	}

	/**
	 * The primitive types and their values in an object that has just been created.
	 */
	static boolean isInitial(Class<?> declared, Object value) {
		return declared.isPrimitive() && ((value instanceof Number number && number.doubleValue() == 0)
				|| value.equals(false) || value.equals('\0'));
	}

}
