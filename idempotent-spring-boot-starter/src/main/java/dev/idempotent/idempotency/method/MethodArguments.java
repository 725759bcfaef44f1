package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.ListenerMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.canonical.OmittedMembers;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;

/**
 * Reads the arguments of a method's calls: by name for expressions, and by position for
 * their comparison. What the framework that calls a listener or a tool adds is not
 * compared, but the entries that an application adds to the context of a tool are.
 */
public final class MethodArguments {

	/**
	 * Marks a parameter, of any type, for what differs in each attempt of an agent.
	 */
	private static final String PROGRESS_TOKEN = "org.springframework.ai.mcp.annotation.McpProgressToken";

	private final Method method;

	private final String described;

	private final List<String> names;

	private final List<Type> types;

	private final List<Class<?>> rawTypes;

	private final Set<String> ignoredNames;

	private final OmittedMembers omitted;

	private final CanonicalValues values;

	private final String remedy;

	/**
	 * Creates a reader.
	 * @param method the method
	 * @param ignored names of parameters, and JSON pointers into the object of all
	 * arguments ({@code /event/sentAt}), or {@link Idempotent#EVERYTHING} alone
	 * @param values compares the arguments
	 * @param remedy what to do about an argument that cannot be compared, as a sentence
	 * @throws IllegalArgumentException if an entry refers to an unknown parameter or
	 * member
	 * @throws IncomparableValueException if the arguments cannot be compared
	 */
	public MethodArguments(AnnotatedMethod method, String[] ignored, CanonicalValues values, String remedy) {
		this.method = method.method();
		this.described = method.describe();
		this.names = method.parameterNames();
		this.types = Stream.of(method.method().getGenericParameterTypes())
			.map((type) -> GenericTypeResolver.resolveType(type, method.type()))
			.toList();
		this.rawTypes = List.of(method.method().getParameterTypes());
		this.values = values;
		this.remedy = remedy;
		this.ignoredNames = Arrays.asList(ignored).contains(Idempotent.EVERYTHING) ? all(this.names, ignored)
				: Arrays.stream(ignored)
					.filter((entry) -> !entry.startsWith("/"))
					.collect(Collectors.toUnmodifiableSet());
		List<String> pointers = Arrays.stream(ignored).filter((entry) -> entry.startsWith("/")).toList();
		this.ignoredNames.forEach(this::requireParameter);
		pointers.forEach(this::requireMember);
		this.omitted = OmittedMembers.of(pointers);
		for (int i = 0; i < this.types.size(); i++) {
			requireComparable(i);
		}
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
	 * Requires that a key expression that is a whole argument can tell its values apart.
	 * @param annotated the method
	 * @param expression the expression
	 * @throws dev.idempotent.IdempotentConfigurationException if it cannot
	 */
	public void requireComparableKey(AnnotatedMethod annotated, String expression) {
		String name = expression.strip().startsWith("#") ? expression.strip().substring(1) : "";
		int index = this.names.indexOf(name);
		String obstacle = (index >= 0) ? this.values.obstacleOfKey(this.types.get(index)) : null;
		if (obstacle != null) {
			throw annotated.invalid("has the key '" + expression + "', whose values cannot be told apart: " + obstacle,
					"Select a member that identifies it, such as #" + name
							+ ".value, or declare a bean of type CanonicalForm for the class.",
					null);
		}
	}

	/**
	 * Computes the fingerprint of a call. Arguments that are {@code null}, zero or
	 * {@code false} are left out, so that a parameter can be added. Of the payload of a
	 * message, what has arrived is compared, unless a part of it is ignored.
	 * @param arguments the arguments, in order
	 * @return the fingerprint
	 * @throws IncomparableValueException if an argument cannot be compared
	 */
	public Fingerprint fingerprint(@Nullable Object[] arguments) {
		List<byte[]> parts = new ArrayList<>(2 * arguments.length);
		for (int i = 0; i < arguments.length; i++) {
			OmittedMembers below = isCompared(i) ? this.omitted.in(this.names.get(i)) : null;
			if (below != null && !CanonicalValues.isLeftOut(this.rawTypes.get(i), arguments[i])) {
				parts.add(ByteBuffer.allocate(Integer.BYTES).putInt(i).array());
				parts.add(encode(i, arguments[i], below));
			}
		}
		return Fingerprint.of(parts);
	}

	private byte[] encode(int index, @Nullable Object argument, OmittedMembers below) {
		byte[] arrived = (argument != null && below == OmittedMembers.NONE)
				? ListenerMethod.payloadOf(this.method, argument) : null;
		if (arrived != null) {
			return arrived;
		}
		try {
			return this.values.encode(this.types.get(index), argument, below);
		}
		catch (IncomparableValueException ex) {
			throw new IncomparableValueException("The argument '" + this.names.get(index) + "' of " + this.described
					+ " cannot be compared with that of a retry: " + ex.getMessage() + ". " + this.remedy, ex);
		}
	}

	private boolean isCompared(int index) {
		return !this.ignoredNames.contains(this.names.get(index))
				&& !CanonicalValues.isOfFramework(this.rawTypes.get(index)) && !isProgressToken(index);
	}

	private boolean isProgressToken(int index) {
		return Stream.of(this.method.getParameterAnnotations()[index])
			.anyMatch((annotation) -> annotation.annotationType().getName().equals(PROGRESS_TOKEN));
	}

	private void requireComparable(int index) {
		String obstacle = isCompared(index) && this.omitted.in(this.names.get(index)) == OmittedMembers.NONE
				? this.values.obstacle(this.types.get(index)) : null;
		if (obstacle != null) {
			throw new IncomparableValueException("has the parameter '" + this.names.get(index)
					+ "', which cannot be compared with that of a retry: " + obstacle);
		}
	}

	private static Set<String> all(List<String> names, String[] ignored) {
		if (ignored.length > 1) {
			throw new IllegalArgumentException("'*' must be the only entry");
		}
		return Set.copyOf(names);
	}

	private void requireParameter(String name) {
		if (!this.names.contains(name)) {
			throw new IllegalArgumentException("there is no parameter '" + name + "', only " + this.names);
		}
	}

	private void requireMember(String pointer) {
		List<String> path = OmittedMembers.names(pointer);
		requireParameter(path.get(0));
		Type type = this.types.get(this.names.indexOf(path.get(0)));
		if (!this.values.hasMember(type, path.subList(1, path.size()))) {
			throw new IllegalArgumentException(
					"there is no member '" + pointer + "': pointers consist of the names of fields in Java");
		}
	}

}
