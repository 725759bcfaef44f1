package dev.idempotent.idempotency.method;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.json.CanonicalJson;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the arguments of a method's calls by name.
 */
public final class MethodArguments {

	private final List<String> names;

	private final Set<String> ignoredNames;

	private final CanonicalJson canonicalJson;

	/**
	 * Creates a reader.
	 * @param names the names of the parameters, in order
	 * @param ignored names of parameters, and JSON pointers into the object of all
	 * arguments ({@code /event/sentAt}), or {@link Idempotent#EVERYTHING} alone
	 * @throws IllegalArgumentException if an entry refers to an unknown parameter
	 */
	public MethodArguments(List<String> names, String[] ignored) {
		this.names = names;
		this.ignoredNames = Arrays.asList(ignored).contains(Idempotent.EVERYTHING) ? all(names, ignored)
				: Arrays.stream(ignored)
					.filter((entry) -> !entry.startsWith("/"))
					.collect(Collectors.toUnmodifiableSet());
		Set<JsonPointer> ignoredMembers = Arrays.stream(ignored)
			.filter((entry) -> entry.startsWith("/"))
			.map(JsonPointer::compile)
			.collect(Collectors.toUnmodifiableSet());
		this.ignoredNames.forEach(this::requireParameter);
		ignoredMembers.forEach((pointer) -> requireParameter(pointer.getMatchingProperty()));
		this.canonicalJson = CanonicalJson.without(ignoredMembers);
	}

	/**
	 * Returns the arguments of a call as the variables of an expression.
	 * @param arguments the arguments, in order
	 * @return the arguments by name
	 */
	public Map<String, @Nullable Object> byName(@Nullable Object[] arguments) {
		Map<String, @Nullable Object> byName = new LinkedHashMap<>();
		for (int i = 0; i < this.names.size(); i++) {
			byName.put(this.names.get(i), arguments[i]);
		}
		return byName;
	}

	/**
	 * Computes the fingerprint of a call.
	 * @param arguments the arguments, in order
	 * @param json writes them
	 * @return the fingerprint
	 * @throws IllegalArgumentException if an argument cannot be written as JSON
	 */
	public Fingerprint fingerprint(@Nullable Object[] arguments, JsonMapper json) {
		ObjectNode compared = json.createObjectNode();
		byName(arguments).forEach((name, value) -> {
			if (!this.ignoredNames.contains(name)) {
				compared.set(name, tree(name, value, json));
			}
		});
		byte[] bytes = json.writeValueAsBytes(compared);
		byte[] canonical = this.canonicalJson.encode(bytes);
		return Fingerprint.of(List.of((canonical != null) ? canonical : bytes));
	}

	private static Set<String> all(List<String> names, String[] ignored) {
		if (ignored.length > 1) {
			throw new IllegalArgumentException("'*' must be the only entry");
		}
		return Set.copyOf(names);
	}

	private static JsonNode tree(String name, @Nullable Object value, JsonMapper json) {
		try {
			return json.valueToTree(value);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException(
					"The argument '" + name + "' cannot be written as JSON, so it cannot be "
							+ "compared with that of a retry. List it in the attribute 'ignore' if it does not matter",
					ex);
		}
	}

	private void requireParameter(String name) {
		if (!this.names.contains(name)) {
			throw new IllegalArgumentException("there is no parameter '" + name + "', only " + this.names);
		}
	}

}
