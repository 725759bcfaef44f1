package dev.idempotent.idempotency.method;

import java.io.InputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.BaseStream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.method.StoredJson.LostValueException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes results as JSON and reads them as the declared type. The stored JSON contains no
 * type names.
 */
public final class ResultCodec {

	private static final byte FORMAT = 1;

	private static final byte[] NOTHING = "null".getBytes(StandardCharsets.US_ASCII);

	private static final List<Class<?>> UNREPEATABLE = List.of(InputStream.class, Reader.class, Iterator.class,
			BaseStream.class, Future.class);

	private final StoredJson json;

	private final JavaType type;

	private final String described;

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Creates a codec.
	 * @param json writes and reads the values
	 * @param values compares what was read with what was written
	 * @param type the declared type; {@code void} for no value
	 * @param described the method or the operation, for messages
	 */
	public ResultCodec(JsonMapper json, CanonicalValues values, JavaType type, String described) {
		this.json = new StoredJson(json, values, type);
		this.type = type;
		this.described = described;
	}

	/**
	 * Creates the codec of a method's results.
	 * @throws dev.idempotent.IdempotentConfigurationException if results of its return
	 * type can be read only once, or arrive in a way that advice cannot observe
	 */
	static ResultCodec of(AnnotatedMethod method, JsonMapper json, CanonicalValues values) {
		Class<?> returned = method.method().getReturnType();
		boolean asynchronous = CompletionStage.class.isAssignableFrom(returned);
		if (!asynchronous && isUnrepeatable(method)) {
			throw method.invalid("returns " + returned.getTypeName() + ", which cannot be replayed",
					"Return a value, a collection or a CompletableFuture.", null);
		}
		JavaType declared = json
			.constructType(GenericTypeResolver.resolveType(method.method().getGenericReturnType(), method.type()));
		JavaType[] later = declared.findTypeParameters(CompletionStage.class);
		JavaType type = (later.length > 0) ? later[0] : declared;
		requireReadable(method, type, json);
		return ofMethod(method, json, values, type);
	}

	/**
	 * Creates the codec of results of a method's type.
	 * @param method the method
	 * @param json writes and reads results
	 * @param values compares what was read with what was written
	 * @param type the declared type of the results
	 * @return the codec
	 * @throws dev.idempotent.IdempotentConfigurationException if it is known that they
	 * cannot be compared
	 */
	public static ResultCodec ofMethod(AnnotatedMethod method, JsonMapper json, CanonicalValues values, JavaType type) {
		ResultCodec codec = new ResultCodec(json, values, type, method.describe());
		String obstacle = codec.obstacle();
		if (obstacle != null) {
			throw method.invalid(
					"returns " + type.toCanonical() + ", which cannot be compared with what a retry would get: "
							+ obstacle,
					"Return a type of your own that consists of values, such as a record, or declare a bean of type "
							+ "CanonicalForm for the class.",
					null);
		}
		return codec;
	}

	private @Nullable String obstacle() {
		return isVoid() ? null : this.json.obstacle();
	}

	/**
	 * Requires that results of the type can be compared, before the work.
	 * @return this codec
	 * @throws IllegalArgumentException if it is known that they cannot
	 */
	public ResultCodec requireComparable() {
		String obstacle = obstacle();
		if (obstacle != null) {
			throw new IllegalArgumentException("The result of " + this.described + " is a " + this.type.toCanonical()
					+ ", which cannot be compared with what a retry would get: " + obstacle
					+ ". The work was not run. Return a type of your own that consists of values, such as a record, or "
					+ "declare a bean of type CanonicalForm for the class");
		}
		return this;
	}

	/**
	 * Requires that a result can be read as its declared type, which the document of an
	 * empty one shows.
	 */
	private static void requireReadable(AnnotatedMethod method, JavaType type, JsonMapper json) {
		if (type.isJavaLangObject()) {
			throw unreadable(method, type, "would be read as a map, a list or a scalar", null);
		}
		try {
			Object unused = json.readValue(sample(type), type);
		}
		catch (InvalidDefinitionException ex) {
			throw unreadable(method, type, "cannot be read from JSON: " + ex.getOriginalMessage(), ex);
		}
		catch (JacksonException ex) {
			// The document lacks members of the type, which is known.
		}
	}

	private static IdempotentConfigurationException unreadable(AnnotatedMethod method, JavaType type, String problem,
			@Nullable Exception cause) {
		return method.invalid("returns " + type.toCanonical() + ", which a retry could not get: it " + problem,
				"Return a type of your own that Jackson can read, such as a record: the content of a page or the body of "
						+ "a response instead of the whole, and for several subtypes their common type with "
						+ "@JsonTypeInfo. For no result, return void.",
				cause);
	}

	private static String sample(JavaType type) {
		if (type.isCollectionLikeType() || type.isArrayType()) {
			return "[" + sample(type.getContentType()) + "]";
		}
		return (type.isMapLikeType() && !type.getContentType().isJavaLangObject())
				? "{\"a\":" + sample(type.getContentType()) + "}" : "{}";
	}

	/**
	 * Creates the codec of a step's results.
	 * @throws IllegalArgumentException if results of that type can be read only once, or
	 * arrive after the step, or cannot be compared
	 */
	static ResultCodec ofStep(String name, JsonMapper json, CanonicalValues values, JavaType type) {
		if (isUnrepeatable(type.getRawClass())) {
			throw new IllegalArgumentException("The result of step '" + name + "' is a "
					+ type.getRawClass().getTypeName() + ", which cannot be recorded. Return a value or a "
					+ "collection, and wait for a future within the step");
		}
		return new ResultCodec(json, values, type, "step '" + name + "'").requireComparable();
	}

	/**
	 * Returns whether a failure to encode a result is the first one.
	 */
	boolean isFirstFailure() {
		return this.failed.compareAndSet(false, true);
	}

	/**
	 * Returns whether results of a method can be read only once, or arrive after it has
	 * returned.
	 * @param method the method
	 * @return {@code true} for streams, futures, reactive types and Kotlin coroutines
	 */
	public static boolean isUnrepeatable(AnnotatedMethod method) {
		return KotlinDetector.isSuspendingFunction(method.method()) || isUnrepeatable(method.method().getReturnType());
	}

	private static boolean isUnrepeatable(Class<?> type) {
		return UNREPEATABLE.stream().anyMatch((unrepeatable) -> unrepeatable.isAssignableFrom(type))
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	/**
	 * Encodes a result, and reads it back to see whether a retry would get the same.
	 * @param result the result
	 * @return its stored form, never empty
	 * @throws IdempotencyResultException if it cannot be written, or what is read back is
	 * another value
	 */
	public StoredResponse encode(@Nullable Object result) {
		if (isVoid()) {
			return ofJson(NOTHING);
		}
		byte[] written;
		try {
			written = this.json.write(result);
		}
		catch (RuntimeException | Error ex) {
			// The work is done, so that nothing else may leave this method.
			throw new IdempotencyResultException("The result of " + this.described + " cannot be written as JSON of "
					+ this.type.toCanonical() + ". Return a value that can, or no value", ex);
		}
		try {
			return ofJson(this.json.verify(result, written));
		}
		catch (LostValueException ex) {
			throw unrepeatable(
					"differs from what a retry would get" + (ex.place().isEmpty() ? "" : ", at '" + ex.place() + "'")
							+ ": JSON does not contain all of it, or is read as another type",
					ex);
		}
		catch (IncomparableValueException ex) {
			throw unrepeatable("cannot be compared with what a retry would get: " + ex.getMessage(), ex);
		}
		catch (RuntimeException | Error ex) {
			// Of Jackson, or of a class that fails when it is read. The work is done.
			throw unrepeatable("cannot be read back from JSON as " + this.type.toCanonical(), ex);
		}
	}

	/**
	 * Returns the stored form of a result of which only the JSON is known.
	 * @param json its JSON
	 * @return the stored form
	 */
	public static StoredResponse ofJson(byte[] json) {
		byte[] bytes = new byte[json.length + 1];
		bytes[0] = FORMAT;
		System.arraycopy(json, 0, bytes, 1, json.length);
		return StoredResponse.of(bytes);
	}

	private IdempotencyResultException unrepeatable(String problem, @Nullable Throwable cause) {
		return new IdempotencyResultException("The result of " + this.described + " " + problem
				+ ". Return a type of your own, such as a record, whose members JSON contains and which declares what "
				+ "they are", cause);
	}

	/**
	 * Decodes a stored result.
	 * @param stored the stored form
	 * @return the result
	 * @throws IdempotencyResultException if it was not stored or cannot be read as the
	 * type
	 */
	public @Nullable Object decode(StoredResponse stored) {
		byte[] bytes = stored.bytes();
		if (bytes.length == 0) {
			throw new IdempotencyResultException(
					"The work of " + this.described
							+ " has been done under this key, but its result could not be stored. It is not done again",
					null);
		}
		if (isVoid()) {
			return null;
		}
		if (bytes[0] != FORMAT) {
			throw unreadable(null);
		}
		try {
			return this.json.read(Arrays.copyOfRange(bytes, 1, bytes.length));
		}
		catch (JacksonException | LostValueException ex) {
			throw unreadable(ex);
		}
	}

	/**
	 * Decodes a value that another application may have sent, with members that the type
	 * does not have.
	 * @param stored the stored form
	 * @return the value; {@code null} if there is none
	 * @throws IdempotencyResultException if it cannot be read as the type
	 */
	public @Nullable Object decodePart(StoredResponse stored) {
		byte[] bytes = stored.bytes();
		if (isVoid()) {
			return null;
		}
		if (bytes.length == 0 || bytes[0] != FORMAT) {
			throw unreadable(null);
		}
		try {
			return this.json.readPart(Arrays.copyOfRange(bytes, 1, bytes.length));
		}
		catch (JacksonException ex) {
			throw unreadable(ex);
		}
	}

	private IdempotencyResultException unreadable(@Nullable Exception cause) {
		return new IdempotencyResultException("The work of " + this.described
				+ " has been done under this key, but its stored result cannot be read as " + this.type.toCanonical()
				+ ", or is another value then. It is not done again. Keep the type able to read results that were stored before it changed, "
				+ "until their retention has passed", cause);
	}

	private boolean isVoid() {
		return this.type.hasRawClass(void.class) || this.type.hasRawClass(Void.class);
	}

}
