package dev.idempotent.idempotency.method;

import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.canonical.CanonicalValues;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Values of one type that are stored as JSON and read back, in this release or a later
 * one, without the loss or change of any part.
 * <p>
 * Before it is stored, a value is read back and compared. Members that the type computes
 * are not read, so that they are not stored. When it is read, it is written again, and
 * must contain what was stored; members that are new in its class may be added.
 */
public final class StoredJson {

	/**
	 * How many elements of an array are compared with each other.
	 */
	private static final int MAX_UNORDERED = 500;

	private final JsonMapper json;

	private final CanonicalValues values;

	private final JavaType type;

	private final Type declared;

	/**
	 * Creates the JSON of a type.
	 * @param json a mapper of {@link #mapper}
	 * @param values compares what was read with what was written
	 * @param type the declared type
	 */
	public StoredJson(JsonMapper json, CanonicalValues values, JavaType type) {
		this.json = json;
		this.values = values;
		this.type = type;
		this.declared = declared(type).getType();
	}

	/**
	 * Returns the type as the type of a field.
	 */
	private static ResolvableType declared(JavaType type) {
		if (type.isArrayType()) {
			return ResolvableType.forArrayComponent(declared(type.getContentType()));
		}
		ResolvableType[] arguments = type.getBindings()
			.getTypeParameters()
			.stream()
			.map(StoredJson::declared)
			.toArray(ResolvableType[]::new);
		return (arguments.length > 0 && arguments.length == type.getRawClass().getTypeParameters().length)
				? ResolvableType.forClassWithGenerics(type.getRawClass(), arguments)
				: ResolvableType.forClass(type.getRawClass());
	}

	/**
	 * Finds a reason why no value of the type can be verified.
	 * @return the reason, or {@code null} if none is known before there are values
	 */
	public @Nullable String obstacle() {
		return this.values.obstacleToDifference(this.declared);
	}

	/**
	 * Returns a mapper for what is stored: it writes no type names, leaves out no
	 * members, keeps the offsets and zones of dates, and reads what it writes, whatever
	 * the application has set for its clients.
	 * @param application the mapper of the application
	 * @return another mapper
	 */
	public static JsonMapper mapper(JsonMapper application) {
		return StoringModule.mapper(application);
	}

	/**
	 * Writes a value.
	 * @param value the value
	 * @return its JSON, which must be {@linkplain #verify verified}
	 * @throws tools.jackson.core.JacksonException if it cannot be written
	 */
	public byte[] write(@Nullable Object value) {
		return this.json.writerFor(this.type).writeValueAsBytes(value);
	}

	/**
	 * Requires that a value can be read from its JSON.
	 * @param value the value
	 * @param written its JSON
	 * @return the JSON to store
	 * @throws LostValueException if another value is read
	 * @throws dev.idempotent.idempotency.canonical.IncomparableValueException if the two
	 * values cannot be compared
	 * @throws tools.jackson.core.JacksonException if it cannot be read
	 */
	public byte[] verify(@Nullable Object value, byte[] written) {
		Unread unread = new Unread();
		Object again = read(written, unread);
		String place = this.values.difference(this.declared, value, again);
		if (place != null) {
			throw new LostValueException(place);
		}
		byte[] stored = unread.members.isEmpty() ? written : readable(value, written, unread.members);
		requireContained(stored, again, unread);
		return stored;
	}

	/**
	 * Leaves out what is not read.
	 */
	private byte[] readable(@Nullable Object value, byte[] written, Set<JsonPointer> unread) {
		JsonNode tree = tree(written);
		for (JsonPointer member : unread) {
			if (member.head() != null && tree.at(member.head()) instanceof ObjectNode owner) {
				owner.remove(Objects.requireNonNull(member.last()).getMatchingProperty());
			}
		}
		byte[] rest = this.json.writeValueAsBytes(tree);
		return (this.values.difference(this.declared, value, read(rest, new Unread())) == null) ? rest : written;
	}

	/**
	 * Reads a stored value.
	 * @param stored its JSON
	 * @return the value
	 * @throws LostValueException if it is not the value that was stored
	 * @throws tools.jackson.core.JacksonException if it cannot be read as the type, or
	 * not be written again
	 */
	public @Nullable Object read(byte[] stored) {
		Unread unread = new Unread();
		Object value = read(stored, unread);
		requireContained(stored, value, unread);
		return value;
	}

	/**
	 * Reads a value that another application may have written, with members that the type
	 * does not have.
	 * @param stored its JSON
	 * @return the value
	 * @throws tools.jackson.core.JacksonException if it cannot be read as the type
	 */
	public @Nullable Object readPart(byte[] stored) {
		return read(stored, new Unread());
	}

	private @Nullable Object read(byte[] stored, Unread unread) {
		return this.json.readerFor(this.type).withHandler(unread).readValue(stored);
	}

	private JsonNode tree(byte[] stored) {
		return this.json.readerFor(JsonNode.class)
			.with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.readTree(stored);
	}

	private void requireContained(byte[] stored, @Nullable Object value, Unread unread) {
		byte[] again = write(value);
		if (!Arrays.equals(stored, again) && !isContained(tree(stored), tree(again), unread.names())) {
			throw new LostValueException("");
		}
	}

	private static boolean isContained(JsonNode stored, JsonNode again, Set<String> unread) {
		if (stored.isObject() && again.isObject()) {
			return stored.propertyStream()
				.allMatch((member) -> isContained(member.getKey(), member.getValue(), stored, again, unread));
		}
		if (stored.isArray() && again.isArray()) {
			return stored.size() == again.size()
					&& (areContained(stored, again, unread) || areContainedInAnyOrder(stored, again, unread));
		}
		return (stored.isNumber() && again.isNumber()) ? stored.decimalValue().compareTo(again.decimalValue()) == 0
				: stored.equals(again);
	}

	/**
	 * A member that was read may have another name by now, of which its former one is an
	 * alias.
	 */
	private static boolean isContained(String name, JsonNode value, JsonNode stored, JsonNode again,
			Set<String> unread) {
		JsonNode same = again.get(name);
		if (same != null) {
			return isContained(value, same, unread);
		}
		return value.isNull() || (!unread.contains(name) && again.propertyStream()
			.anyMatch((other) -> !stored.has(other.getKey()) && isContained(value, other.getValue(), unread)));
	}

	private static boolean areContained(JsonNode stored, JsonNode again, Set<String> unread) {
		for (int i = 0; i < stored.size(); i++) {
			if (!isContained(stored.get(i), again.get(i), unread)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * A set that is read has another order than the one that was written.
	 */
	private static boolean areContainedInAnyOrder(JsonNode stored, JsonNode again, Set<String> unread) {
		Map<JsonNode, Integer> equal = new HashMap<>();
		stored.forEach((element) -> equal.merge(element, 1, Integer::sum));
		Deque<JsonNode> changed = new ArrayDeque<>();
		for (JsonNode element : again) {
			if (equal.merge(element, -1, Integer::sum) < 0) {
				changed.add(element);
			}
		}
		List<JsonNode> missing = new ArrayList<>();
		equal.forEach((element, count) -> missing.addAll(Collections.nCopies(Math.max(count, 0), element)));
		return missing.size() <= MAX_UNORDERED && missing.stream().allMatch((element) -> {
			Iterator<JsonNode> others = changed.iterator();
			while (others.hasNext()) {
				if (isContained(element, others.next(), unread)) {
					others.remove();
					return true;
				}
			}
			return false;
		});
	}

	/**
	 * Collects the members that are not read: the type computes them, or lacks them.
	 */
	private static final class Unread extends DeserializationProblemHandler {

		private final Set<JsonPointer> members = new LinkedHashSet<>();

		@Override
		public boolean handleUnknownProperty(DeserializationContext context, JsonParser parser,
				@Nullable ValueDeserializer<?> deserializer, Object beanOrClass, String name) {
			this.members.add(parser.streamReadContext().pathAsPointer());
			parser.skipChildren();
			return true;
		}

		Set<String> names() {
			return this.members.stream()
				.map((member) -> Objects.requireNonNull(member.last()).getMatchingProperty())
				.collect(Collectors.toSet());
		}

	}

	/**
	 * Thrown if the value that is read is not the value that was stored.
	 */
	public static final class LostValueException extends RuntimeException {

		private final String place;

		private LostValueException(String place) {
			super("Another value is read");
			this.place = place;
		}

		/**
		 * Returns where the values differ.
		 * @return the place, such as {@code lines[0].price}; empty if it is the value
		 * itself, or unknown
		 */
		public String place() {
			return this.place.replaceFirst("^\\.", "");
		}

	}

}
