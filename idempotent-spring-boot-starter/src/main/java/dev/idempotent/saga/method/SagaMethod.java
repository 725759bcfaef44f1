package dev.idempotent.saga.method;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.method.MethodArguments;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.idempotency.method.StoredJson;
import dev.idempotent.idempotency.method.StoredJson.LostValueException;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.engine.HaltReason;
import dev.idempotent.saga.engine.SagaDefinition;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A {@code @Saga} method: its valid attributes, the keys of its calls, and its arguments
 * and results as JSON. The stored JSON contains no type names.
 */
final class SagaMethod implements SagaDefinition {

	private static final int MAX_NAME = 100;

	private static final String INCOMPARABLE = "Pass what identifies it, or declare a bean of type CanonicalForm for the "
			+ "class.";

	/**
	 * The fingerprint of a saga that has the key of a run without a fingerprint: it
	 * contradicts none, so the arguments of the first call count.
	 */
	private static final Fingerprint ANY = new Fingerprint(0, "0".repeat(64));

	private final AnnotatedMethod method;

	private final String name;

	private final Duration timeout;

	private final SagaKeys keys;

	private final @Nullable KeyExpression key;

	private final MethodArguments arguments;

	private final List<String> names;

	private final List<JavaType> types;

	private final List<StoredJson> stored;

	private final ResultCodec results;

	private final AdvisedBody body;

	private final JsonMapper json;

	private final CanonicalValues values;

	/**
	 * Creates a saga.
	 * @param method the method
	 * @param annotation its annotation
	 * @param timeout the timeout, without placeholders
	 * @param keys the ids of sagas
	 * @param json writes and reads arguments and results
	 * @param values compares arguments and results
	 * @param body runs the method
	 * @throws IdempotentConfigurationException if the annotation, a parameter or the
	 * return type is invalid
	 */
	SagaMethod(AnnotatedMethod method, Saga annotation, String timeout, SagaKeys keys, JsonMapper json,
			CanonicalValues values, AdvisedBody body) {
		requireResult(method);
		this.names = method.parameterNames();
		this.types = Stream.of(method.method().getGenericParameterTypes())
			.map((type) -> typeOf(type, method, json))
			.toList();
		this.stored = this.types.stream().map((type) -> new StoredJson(json, values, type)).toList();
		this.method = method;
		this.name = name(method, annotation.name());
		this.timeout = timeout(method, timeout);
		this.keys = keys;
		this.key = key(method, annotation.key(), this.names, values);
		this.arguments = arguments(method, annotation, values);
		this.results = ResultCodec.ofMethod(method, json, values,
				typeOf(method.method().getGenericReturnType(), method, json));
		this.body = body;
		this.json = json;
		this.values = values;
	}

	private static JavaType typeOf(Type declared, AnnotatedMethod method, JsonMapper json) {
		return json.constructType(GenericTypeResolver.resolveType(declared, method.type()));
	}

	private static void requireResult(AnnotatedMethod method) {
		Class<?> type = method.method().getReturnType();
		if (ResultCodec.isUnrepeatable(method) || method.returnsEarly()) {
			throw method.invalid("returns " + type.getTypeName() + ", and a saga ends when its method returns",
					"Return a value or a collection. Sagas.start runs a saga in the background.", null);
		}
	}

	private static String name(AnnotatedMethod method, String name) {
		if (name.isBlank() || name.length() > MAX_NAME) {
			throw method.invalid(
					name.isBlank() ? "has a blank name" : "has a name of more than " + MAX_NAME + " characters",
					"Set its attribute 'name' to a text of at most " + MAX_NAME + " characters.", null);
		}
		return name;
	}

	private static Duration timeout(AnnotatedMethod method, String text) {
		try {
			return OperationSettings.duration(text);
		}
		catch (IllegalArgumentException ex) {
			throw method.invalid("has the timeout '" + text + "', which is not a duration between 1 ms and 10 years",
					"Use a format such as 30s, 10m or PT30S.", ex);
		}
	}

	private static @Nullable KeyExpression key(AnnotatedMethod method, String text, List<String> variables,
			CanonicalValues values) {
		try {
			return text.isEmpty() ? null : KeyExpression.parse(text, new HashSet<>(variables), values);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw method.invalid("has the invalid key expression '" + text + "': " + ex.getMessage(),
					"Correct the SpEL expression in its attribute 'key'.", ex);
		}
	}

	private static MethodArguments arguments(AnnotatedMethod method, Saga annotation, CanonicalValues values) {
		try {
			MethodArguments arguments = new MethodArguments(method, annotation.ignore(), values, INCOMPARABLE);
			arguments.requireComparableKey(method, annotation.key());
			return arguments;
		}
		catch (IncomparableValueException ex) {
			throw method.invalid(Objects.requireNonNull(ex.getMessage()), INCOMPARABLE, ex);
		}
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Duration timeout() {
		return this.timeout;
	}

	@Override
	public @Nullable Object run(byte[] stored) throws Throwable {
		return this.body.run(read(stored));
	}

	@Override
	public byte[] writeResult(@Nullable Object result) {
		return this.results.encode(result).bytes();
	}

	@Override
	public @Nullable Object readResult(byte[] stored) {
		return this.results.decode(StoredResponse.of(stored));
	}

	@Override
	public void requireStepResult(String step, Type type) {
		new ResultCodec(this.json, this.values, this.json.constructType(type), "step '" + step + "'")
			.requireComparable();
	}

	@Override
	public byte[] writeStepResult(Type type, @Nullable Object result) {
		return stepResults(type).encode(result).bytes();
	}

	@Override
	public @Nullable Object readStepResult(Type type, byte[] stored) {
		try {
			return stepResults(type).decode(StoredResponse.of(stored));
		}
		catch (IdempotencyResultException ex) {
			throw new UnreadableException("The recorded result of a step cannot be read as " + type.getTypeName(), ex);
		}
	}

	@Override
	public @Nullable Object readSignal(Type type, byte[] stored) {
		try {
			return stepResults(type).decodePart(StoredResponse.of(stored));
		}
		catch (IdempotencyResultException ex) {
			throw new UnreadableException("The value of a signal cannot be read as " + type.getTypeName(), ex);
		}
	}

	@Override
	public boolean hasValue(String json, String pointer) {
		JsonNode document = tree(json.getBytes(StandardCharsets.UTF_8));
		JsonNode value = (document != null) ? document.at(pointer) : null;
		return value != null && !value.isMissingNode() && !value.isNull();
	}

	private ResultCodec stepResults(Type type) {
		return new ResultCodec(this.json, this.values, this.json.constructType(type), "a step");
	}

	/**
	 * Describes a call.
	 * @throws IllegalArgumentException if its arguments yield no key or cannot be stored
	 * @throws IllegalStateException if it needs the key of an enclosing run, and there is
	 * none
	 */
	SagaInvocation callWith(@Nullable Object[] values) {
		IdempotencyContext run = (this.key == null) ? requireRun() : null;
		byte[] written = write(values);
		if (run != null) {
			return new SagaInvocation(this, this.method.describe(), this.keys.ofRun(this.name, run.root()),
					Objects.requireNonNullElse(run.fingerprint(), ANY), written, run);
		}
		return new SagaInvocation(this, this.method.describe(),
				this.keys.ofCanonical(this.name, evaluate(this.arguments.byName(values))),
				this.arguments.fingerprint(values), written, null);
	}

	private IdempotencyContext requireRun() {
		IdempotencyContext run = IdempotencyContext.current();
		if (run == null) {
			throw new IllegalStateException("This call of the saga " + this.method.describe()
					+ " has no key: its @Saga has none, and the call is not part of an @Idempotent run. Set the "
					+ "argument that is the key, such as key = \"#command.id\", or call it in an @Idempotent run");
		}
		return run;
	}

	private String evaluate(Map<String, @Nullable Object> named) {
		try {
			String value = Objects.requireNonNull(this.key).evaluate(named);
			if (value != null) {
				return value;
			}
		}
		catch (EvaluationException | JacksonException ex) {
			throw noKey(ex);
		}
		throw noKey(null);
	}

	private IllegalArgumentException noKey(@Nullable Exception cause) {
		return new IllegalArgumentException("This call of the saga " + this.method.describe()
				+ " has no key: the key expression of its @Saga yields nothing for its arguments", cause);
	}

	/**
	 * Writes the arguments of a first call.
	 * @throws IllegalArgumentException if an argument cannot be written, or not be read
	 * back as its type
	 */
	private byte[] write(@Nullable Object[] values) {
		ByteArrayOutputStream stored = new ByteArrayOutputStream();
		stored.write('[');
		for (int i = 0; i < values.length; i++) {
			if (i > 0) {
				stored.write(',');
			}
			stored.writeBytes(write(i, values[i]));
		}
		stored.write(']');
		return stored.toByteArray();
	}

	/**
	 * Reads stored arguments.
	 * @throws UnreadableException if there is another number of them, or one cannot be
	 * read as its type, or is another value then
	 */
	private @Nullable Object[] read(byte[] stored) {
		@Nullable Object[] values = new Object[this.stored.size()];
		JsonNode written = tree(stored);
		if (written == null || !written.isArray() || written.size() != values.length) {
			throw new UnreadableException(HaltReason.OTHER_PARAMETERS.text(this.method.describe(), values.length),
					null);
		}
		for (int i = 0; i < values.length; i++) {
			try {
				values[i] = this.stored.get(i).read(this.json.writeValueAsBytes(written.get(i)));
			}
			catch (JacksonException | LostValueException ex) {
				throw new UnreadableException(HaltReason.ARGUMENT_NOT_READABLE.text(this.names.get(i),
						this.method.describe(), this.types.get(i).toCanonical()), ex);
			}
		}
		return values;
	}

	private @Nullable JsonNode tree(byte[] stored) {
		try {
			return this.json.readerFor(JsonNode.class)
				.with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
				.readTree(stored);
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	private byte[] write(int index, @Nullable Object value) {
		StoredJson stored = this.stored.get(index);
		try {
			return stored.verify(value, stored.write(value));
		}
		catch (LostValueException ex) {
			throw unstorable(index,
					"is not the same when it is read back" + (ex.place().isEmpty() ? "" : " ('" + ex.place() + "')"),
					ex);
		}
		catch (JacksonException | IncomparableValueException ex) {
			throw unstorable(index, "cannot be written and read back", ex);
		}
	}

	private IllegalArgumentException unstorable(int index, String problem, @Nullable Exception cause) {
		return new IllegalArgumentException("The argument '" + this.names.get(index) + "' of the saga "
				+ this.method.describe() + " " + problem + " as JSON of " + this.types.get(index).toCanonical()
				+ ". Every run of a saga gets its arguments from JSON: pass a type that JSON contains completely",
				cause);
	}

}
