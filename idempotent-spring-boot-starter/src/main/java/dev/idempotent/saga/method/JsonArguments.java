package dev.idempotent.saga.method;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Type;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.saga.engine.SagaDefinition.UnreadableException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes the arguments of a method as a JSON array, and reads them as the declared types.
 * The stored JSON contains no type names.
 */
final class JsonArguments {

	private final String described;

	private final List<String> names;

	private final List<JavaType> types;

	private final JsonMapper json;

	private JsonArguments(String described, List<String> names, List<JavaType> types, JsonMapper json) {
		this.described = described;
		this.names = names;
		this.types = types;
		this.json = json;
	}

	/**
	 * Creates the arguments of a method.
	 */
	static JsonArguments of(AnnotatedMethod method, List<String> names, JsonMapper json) {
		Type[] declared = method.method().getGenericParameterTypes();
		return new JsonArguments(method.describe(), names,
				Stream.of(declared)
					.map((type) -> json.constructType(GenericTypeResolver.resolveType(type, method.type())))
					.toList(),
				json);
	}

	/**
	 * Writes the arguments of a first call.
	 * @throws IllegalArgumentException if an argument cannot be written, or not be read
	 * back as its type
	 */
	byte[] write(@Nullable Object[] values) {
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
	 * read as its type
	 */
	@Nullable Object[] read(byte[] stored) {
		@Nullable Object[] values = new Object[this.types.size()];
		int i = 0;
		try (JsonParser parser = this.json.createParser(stored)) {
			boolean complete = parser.nextToken() == JsonToken.START_ARRAY;
			while (complete && i < values.length) {
				complete = parser.nextToken() != JsonToken.END_ARRAY;
				if (complete) {
					values[i] = read(i, parser);
					i++;
				}
			}
			if (!complete || parser.nextToken() != JsonToken.END_ARRAY) {
				throw new UnreadableException("The stored arguments of " + this.described + " are not those of "
						+ values.length + " parameters. To change the parameters of a saga, give it another name",
						null);
			}
			return values;
		}
		catch (JacksonException ex) {
			throw new UnreadableException("The stored argument '" + this.names.get(Math.min(i, this.names.size() - 1))
					+ "' of " + this.described + " cannot be read as " + this.types.get(i).toCanonical(), ex);
		}
	}

	private byte[] write(int index, @Nullable Object value) {
		JavaType type = this.types.get(index);
		try {
			byte[] stored = this.json.writerFor(type).writeValueAsBytes(value);
			this.json.readerFor(type).readValue(stored);
			return stored;
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("The argument '" + this.names.get(index) + "' of the saga "
					+ this.described + " cannot be written as JSON and read back as " + type.toCanonical()
					+ ". Every run of a saga gets its arguments from JSON", ex);
		}
	}

	private @Nullable Object read(int index, JsonParser parser) {
		return this.json.readerFor(this.types.get(index))
			.without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
			.readValue(parser);
	}

}
