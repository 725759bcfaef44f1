package dev.idempotent.idempotency.canonical;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.canonical.ClassMembers.Member;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * The canonical form of values: the same bytes for equal values, and different bytes for
 * all others, in each process, and in each release that only adds optional members to its
 * classes. It depends on no mapper and on no annotation, and reads nothing that can be
 * read only once. Thread-safe.
 * <ul>
 * <li>Numbers are compared by their decimal value, {@code enum} constants by name, other
 * values that are known by what their {@code equals} compares.
 * <li>Records and other classes are compared by their fields, without fields whose value
 * is {@code null}, zero, {@code false} or an empty {@code Optional}.
 * <li>Sets, maps and collections other than lists and queues are compared without order.
 * <li>A value whose class is not the declared one includes the name of its class.
 * </ul>
 * Values whose content cannot be seen are refused: proxies, persistent entities,
 * collections that are loaded when they are read, classes without members if they are the
 * declared type, and classes of the JDK that are not values.
 */
public final class CanonicalValues {

	private static final int MAX_DEPTH = 200;

	private static final String CHANGEABLE = "has fields that are not final, so that its form may change between two "
			+ "calls";

	/**
	 * How much of a path is told.
	 */
	private static final int MAX_PATH = 12;

	private final List<CanonicalForm<?>> forms;

	private final Map<Type, String> obstacles = new ConcurrentReferenceHashMap<>();

	private final ClassValue<ClassForm> classes = new ClassValue<>() {

		@Override
		protected ClassForm computeValue(Class<?> type) {
			return classForm(type);
		}

	};

	/**
	 * Creates the canonical form of an application's values.
	 * @param forms the forms of the types that the library cannot compare by itself
	 */
	public CanonicalValues(Collection<? extends CanonicalForm<?>> forms) {
		this.forms = List.copyOf(forms);
	}

	/**
	 * Encodes a value.
	 * @param declared the declared type; {@code Object} if there is none
	 * @param value the value
	 * @param omitted the members to leave out
	 * @return its canonical form
	 * @throws IncomparableValueException if it has none
	 */
	public byte[] encode(Type declared, @Nullable Object value, OmittedMembers omitted) {
		return encoded(new Encoder(false, false), declared, value, omitted);
	}

	/**
	 * Encodes a value that is a key. Its classes must not have fields that can change,
	 * such as a cache: another form would be another key.
	 * @param value the value
	 * @return its canonical form
	 * @throws IncomparableValueException if it has none, or none that is certain to stay
	 */
	public byte[] encodeKey(Object value) {
		return encoded(new Encoder(false, true), Object.class, value, OmittedMembers.NONE);
	}

	private static byte[] encoded(Encoder encoder, Type declared, @Nullable Object value, OmittedMembers omitted) {
		try {
			encoder.encode(declared, value, omitted);
			return encoder.bytes.toBytes();
		}
		catch (IncomparableValueException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			// The failure of a collection that cannot be read, or of a form.
			throw new IncomparableValueException(encoder.located("it cannot be read (" + ex.getClass().getName() + ")"),
					ex);
		}
	}

	/**
	 * Finds a difference between a value and what was read from its stored form. Here
	 * numbers of two classes differ, and entities are compared by their members.
	 * @param declared the declared type
	 * @param one the value
	 * @param other the other value
	 * @return where they differ, such as {@code .lines[0].price}; empty for the value
	 * itself, {@code null} if they are equal
	 * @throws IncomparableValueException if one of them cannot be compared
	 */
	public @Nullable String difference(Type declared, @Nullable Object one, @Nullable Object other) {
		if (one == null || other == null) {
			return (one == other) ? null : "";
		}
		byte[] first = encoded(new Encoder(true, false), declared, one, OmittedMembers.NONE);
		byte[] second = encoded(new Encoder(true, false), declared, other, OmittedMembers.NONE);
		int at = Arrays.mismatch(first, second);
		return (at < 0) ? null : place(place(declared, one, at), place(declared, other, at));
	}

	/**
	 * Finds the innermost place that contains a byte of the form of a value.
	 */
	private String place(Type declared, Object value, int at) {
		Encoder encoder = new Encoder(true, false);
		encoder.wanted = at;
		encoder.encode(declared, value, OmittedMembers.NONE);
		return (encoder.found != null) ? encoder.found : "";
	}

	/**
	 * If one value lacks a member, its next member is at that place.
	 */
	private static String place(String ofOne, String ofOther) {
		if (ofOne.startsWith(ofOther) || ofOther.startsWith(ofOne)) {
			return (ofOne.length() > ofOther.length()) ? ofOne : ofOther;
		}
		return (ofOne.compareTo(ofOther) < 0) ? ofOne : ofOther;
	}

	/**
	 * Returns whether a value identifies anything.
	 * @param value the value
	 * @return {@code false} for {@code null}, a blank text, and what contains nothing
	 * else
	 */
	public boolean hasContent(@Nullable Object value) {
		try {
			return hasContent(value, 0);
		}
		catch (RuntimeException ex) {
			// The encoding of the value reports what cannot be read.
			return true;
		}
	}

	private boolean hasContent(@Nullable Object value, int depth) {
		if (value == null || depth > MAX_DEPTH) {
			return value != null;
		}
		ClassForm form = this.classes.get(value.getClass());
		if (form.form() != null) {
			Object canonical = canonical(form.form(), value);
			return canonical == null || hasContent(canonical, depth + 1);
		}
		if (!form.isKnown()) {
			return form.obstacle() != null
					|| form.members().stream().anyMatch((member) -> hasContent(member.valueIn(value), depth + 1));
		}
		if (value.getClass().isArray()) {
			return IntStream.range(0, Array.getLength(value))
				.anyMatch((i) -> hasContent(Array.get(value, i), depth + 1));
		}
		return KnownTypes.isContainer(value.getClass()) ? containsContent(value, depth) : !value.getClass().isRecord();
	}

	private boolean containsContent(Object container, int depth) {
		if (KnownTypes.isOptional(container.getClass())) {
			return !KnownTypes.isEmpty(container)
					&& (!(container instanceof Optional<?> content) || hasContent(content.get(), depth + 1));
		}
		if (container instanceof CharSequence text) {
			return !text.toString().isBlank();
		}
		if (container instanceof Map.Entry<?, ?> entry) {
			return hasContent(entry.getValue(), depth + 1);
		}
		Collection<?> elements = (container instanceof Map<?, ?> map) ? map.values() : (Collection<?>) container;
		return KnownTypes.isLazy(container.getClass())
				|| elements.stream().anyMatch((element) -> hasContent(element, depth + 1));
	}

	/**
	 * Returns whether a value is compared by its elements or characters alone, which can
	 * be read without an effect.
	 * @param value the value
	 * @return {@code true} for texts, collections and maps of the JDK and of known
	 * libraries
	 */
	public boolean isContainer(Object value) {
		return !hasForm(value) && KnownTypes.isContainer(value.getClass()) && !KnownTypes.isLazy(value.getClass());
	}

	/**
	 * Returns whether a value is compared by a {@link CanonicalForm}.
	 * @param value the value
	 * @return whether its class has one
	 */
	public boolean hasForm(Object value) {
		return this.classes.get(value.getClass()).form() != null;
	}

	/**
	 * A form of the application may return {@code null}.
	 */
	@SuppressWarnings("unchecked")
	private static <T> @Nullable Object canonical(CanonicalForm<T> form, Object value) {
		return form.canonical((T) value);
	}

	/**
	 * Finds a reason why no value of a declared type can be encoded, or some cannot.
	 * @param declared the type
	 * @return the reason, such as {@code its member 'lock' is …}; {@code null} if none is
	 * known before there are values
	 */
	public @Nullable String obstacle(Type declared) {
		return obstacle(declared, false, false, new HashSet<>());
	}

	/**
	 * Finds a reason why no value of a declared type can be a key, or some cannot.
	 * @param declared the type
	 * @return the reason as in {@link #obstacle(Type)}, also a class of which
	 * {@link #encodeKey} refuses the values
	 */
	public @Nullable String obstacleOfKey(Type declared) {
		return obstacle(declared, true, false, new HashSet<>());
	}

	/**
	 * Finds a reason why values of a declared type cannot be compared with what is read
	 * from their stored form. Entities can.
	 * @param declared the type
	 * @return the reason, or {@code null} if none is known before there are values
	 */
	public @Nullable String obstacleToDifference(Type declared) {
		String known = this.obstacles.computeIfAbsent(declared,
				(type) -> Objects.requireNonNullElse(obstacle(type, false, true, new HashSet<>()), ""));
		return known.isEmpty() ? null : known;
	}

	/**
	 * Finds the classes whose fields are read, as far as declared types tell. For native
	 * images.
	 * @param declared the declared type of a value
	 * @return its class and the classes of its members
	 */
	public Set<Class<?>> classesOf(Type declared) {
		Set<Class<?>> found = new HashSet<>();
		collect(declared, found);
		return found;
	}

	private void collect(Type declared, Set<Class<?>> found) {
		if (declared instanceof ParameterizedType generic) {
			Stream.of(generic.getActualTypeArguments()).forEach((argument) -> collect(argument, found));
		}
		Class<?> type = rawType(declared);
		if (type.isArray()) {
			collect(component(declared), found);
		}
		else if (!type.isPrimitive() && !KnownTypes.isJdk(type) && found.add(type)) {
			this.classes.get(type).members().forEach((member) -> {
				found.add(member.field().getDeclaringClass());
				collect(member.type(), found);
			});
			if (type.getPermittedSubclasses() != null) {
				Stream.of(type.getPermittedSubclasses()).forEach((each) -> collect(each, found));
			}
		}
	}

	/**
	 * Returns whether a member or parameter is left out because of its value: one that an
	 * earlier release did not have gets this value from what that release has sent.
	 * @param declared the declared class
	 * @param value the value
	 * @return {@code true} for {@code null}, zero, {@code false} and an empty
	 * {@code Optional}; a missing {@code Optional} is something else
	 */
	public static boolean isLeftOut(Class<?> declared, @Nullable Object value) {
		if (KnownTypes.isOptional(declared)) {
			return value != null && KnownTypes.isEmpty(value);
		}
		return value == null || KnownTypes.isInitial(declared, value);
	}

	/**
	 * Returns whether a parameter of a type belongs to the framework that calls a
	 * listener, such as an acknowledgment.
	 * @param type the declared type of the parameter
	 * @return {@code true} if it is not part of what the call asks for
	 */
	public static boolean isOfFramework(Class<?> type) {
		return KnownTypes.isOfFramework(type);
	}

	/**
	 * Returns the class that a type has at run time.
	 */
	private static Class<?> rawType(Type type) {
		if (type instanceof Class<?> raw) {
			return raw;
		}
		if (type instanceof ParameterizedType generic) {
			return rawType(generic.getRawType());
		}
		if (type instanceof WildcardType wildcard) {
			return rawType(wildcard.getUpperBounds()[0]);
		}
		return (type instanceof GenericArrayType array) ? rawType(array.getGenericComponentType()).arrayType()
				: Object.class;
	}

	/**
	 * Returns the declared type of the elements of a container of the JDK.
	 */
	private static Type argument(Type declared, int index, int count) {
		Type type = (declared instanceof WildcardType wildcard) ? wildcard.getUpperBounds()[0] : declared;
		if (type instanceof ParameterizedType generic && generic.getActualTypeArguments().length == count
				&& KnownTypes.isJdk(rawType(generic))) {
			return generic.getActualTypeArguments()[index];
		}
		return Object.class;
	}

	private static Type component(Type declared) {
		return (declared instanceof GenericArrayType array) ? array.getGenericComponentType()
				: (declared instanceof Class<?> type && type.isArray()) ? type.getComponentType() : Object.class;
	}

	private @Nullable String obstacle(Type declared, boolean key, boolean exact, Set<Type> seen) {
		Class<?> type = rawType(declared);
		if (type.isPrimitive() || !seen.add(declared)) {
			return null;
		}
		if (type.isArray()) {
			return obstacle(component(declared), key, exact, seen);
		}
		if (KnownTypes.isContainer(type) && Map.class.isAssignableFrom(type)) {
			String ofKeys = obstacle(argument(declared, 0, 2), key, exact, seen);
			return (ofKeys != null) ? ofKeys : obstacle(argument(declared, 1, 2), key, exact, seen);
		}
		if (KnownTypes.isContainer(type) && (Collection.class.isAssignableFrom(type) || type == Optional.class)) {
			return obstacle(argument(declared, 0, 1), key, exact, seen);
		}
		ClassForm form = this.classes.get(type);
		if (form.isKnown() || (KnownTypes.isJdk(type) && KnownTypes.mayBeComparable(type))) {
			return null;
		}
		if (form.entity() || KnownTypes.isJdk(type) || KnownTypes.obstacleByName(type) != null
				|| !Modifier.isAbstract(type.getModifiers())) {
			String obstacle = (key && form.obstacle(exact) == null && form.isChangeable()) ? CHANGEABLE
					: form.obstacle(exact);
			return (obstacle != null) ? KnownTypes.nameOf(type) + " " + obstacle
					: obstacleOfMembers(type, form, key, exact, seen);
		}
		return obstacleOfAny(type.getPermittedSubclasses(), key, exact, seen);
	}

	private @Nullable String obstacleOfMembers(Class<?> type, ClassForm form, boolean key, boolean exact,
			Set<Type> seen) {
		for (Member member : form.members()) {
			String obstacle = obstacle(member.type(), key, exact, seen);
			if (obstacle != null) {
				return "the member '" + member.name() + "' of " + KnownTypes.nameOf(type) + ": " + obstacle;
			}
		}
		return null;
	}

	private @Nullable String obstacleOfAny(Class<?> @Nullable [] permitted, boolean key, boolean exact,
			Set<Type> seen) {
		return (permitted == null) ? null
				: Arrays.stream(permitted)
					.filter((type) -> !this.classes.get(type).isMarker())
					.map((type) -> obstacle(type, key, exact, seen))
					.filter(Objects::nonNull)
					.findFirst()
					.orElse(null);
	}

	/**
	 * Returns whether a member exists, as far as the declared type tells.
	 * @param declared the declared type of a value
	 * @param names the names of a member, of a member of that member, and so on
	 * @return {@code false} if the last one certainly does not exist
	 */
	public boolean hasMember(Type declared, List<String> names) {
		Class<?> type = rawType(declared);
		if (names.isEmpty()) {
			return true;
		}
		List<String> below = names.subList(1, names.size());
		if (Map.class.isAssignableFrom(type)) {
			return hasMember(argument(declared, 1, 2), below);
		}
		if (type == Optional.class) {
			return hasMember(argument(declared, 0, 1), names);
		}
		if (type.isArray() || List.class.isAssignableFrom(type)) {
			Type element = type.isArray() ? component(declared) : argument(declared, 0, 1);
			return names.get(0).matches("\\d+") && hasMember(element, below);
		}
		ClassForm form = this.classes.get(type);
		if (form.isKnown() || form.members().isEmpty() || !Modifier.isFinal(type.getModifiers())) {
			return form.scalar() == null && !Collection.class.isAssignableFrom(type);
		}
		return form.members()
			.stream()
			.filter((member) -> member.name().equals(names.get(0)))
			.anyMatch((member) -> hasMember(member.type(), below));
	}

	private ClassForm classForm(Class<?> type) {
		List<CanonicalForm<?>> closest = closestForms(type);
		if (closest.size() > 1) {
			String obstacle = "has two forms, those for " + closest.get(0).type().getName() + " and "
					+ closest.get(1).type().getName()
					+ ", of which neither is closer: declare a CanonicalForm for the class itself";
			return new ClassForm(null, null, List.of(), obstacle, obstacle, false, false);
		}
		CanonicalForm<?> form = closest.isEmpty() ? KnownTypes.formOf(type) : closest.get(0);
		BiConsumer<CanonicalBytes, Object> scalar = KnownTypes.scalar(type);
		if (form != null || scalar != null || type.isArray() || Enum.class.isAssignableFrom(type)
				|| KnownTypes.isContainer(type)) {
			return new ClassForm(form, (form != null) ? null : scalar, List.of(), null, null, false, form == null);
		}
		boolean entity = KnownTypes.isEntity(type);
		String obstacle = KnownTypes.obstacle(type);
		List<Member> members = List.of();
		if (obstacle == null) {
			try {
				members = ClassMembers.of(type);
			}
			catch (IncomparableValueException ex) {
				obstacle = "cannot be read: " + ex.getMessage();
			}
		}
		boolean marker = members.isEmpty() && !type.isRecord();
		if (obstacle == null && marker && (type.isAnonymousClass() || type.isLocalClass())) {
			obstacle = "is a local or anonymous class";
		}
		String unclear = obstacle;
		if (unclear == null && entity) {
			unclear = "is a persistent entity, whose members may be loaded or changed when they are read";
		}
		if (unclear == null && ClassMembers.hasTransient(type)) {
			unclear = "has transient fields, of which it is not known whether they count";
		}
		if (unclear == null && marker) {
			unclear = ClassForm.NO_FIELDS;
		}
		return new ClassForm(null, null, members, obstacle, unclear, entity, false);
	}

	/**
	 * Finds the declared forms of a class that no other one of it is more specific than.
	 */
	private List<CanonicalForm<?>> closestForms(Class<?> type) {
		List<CanonicalForm<?>> all = this.forms.stream()
			.<CanonicalForm<?>>map((form) -> form)
			.filter((form) -> form.type().isAssignableFrom(type))
			.toList();
		return all.stream()
			.filter((form) -> all.stream()
				.noneMatch((other) -> other.type() != form.type() && form.type().isAssignableFrom(other.type())))
			.toList();
	}

	/**
	 * How the values of a class are compared.
	 *
	 * @param form the form that the application has declared, or {@code null}
	 * @param scalar writes a value that consists of no others, or {@code null}
	 * @param members the members; empty for what is known without them
	 * @param unreadable why no value can be read, as a predicate, or {@code null}
	 * @param obstacle why a key or an argument must not be read, as a predicate, or
	 * {@code null}
	 * @param entity whether the values are persistent entities, which results may be
	 * @param container whether a value is compared by what it contains
	 */
	private record ClassForm(@Nullable CanonicalForm<?> form, @Nullable BiConsumer<CanonicalBytes, Object> scalar,
			List<Member> members, @Nullable String unreadable, @Nullable String obstacle, boolean entity,
			boolean container) {

		static final String NO_FIELDS = "has no fields, so that all of its values are equal";

		@Nullable String obstacle(boolean exact) {
			return exact ? this.unreadable : this.obstacle;
		}

		/**
		 * Whether all that its values tell is their class.
		 */
		boolean isMarker() {
			return NO_FIELDS.equals(this.obstacle);
		}

		boolean isChangeable() {
			return this.members.stream().anyMatch((member) -> !Modifier.isFinal(member.field().getModifiers()));
		}

		/**
		 * Whether the class alone tells that all of its values can be compared.
		 */
		boolean isKnown() {
			return this.obstacle == null && this.members.isEmpty();
		}

	}

	/**
	 * Encodes one value.
	 */
	private final class Encoder {

		private CanonicalBytes bytes = new CanonicalBytes();

		/**
		 * Whether another class is another value, even if both have the same content.
		 */
		private boolean exact;

		private final boolean key;

		private final Deque<Object> path = new ArrayDeque<>();

		/**
		 * The objects that contain the one that is written, and how many contain them.
		 */
		private final IdentityHashMap<Object, Integer> open = new IdentityHashMap<>();

		private final CanonicalBytes whole = this.bytes;

		/**
		 * The byte whose place is wanted, if any.
		 */
		private int wanted = -1;

		private @Nullable String found;

		Encoder(boolean exact, boolean key) {
			this.exact = exact;
			this.key = key;
		}

		void encode(Type declared, @Nullable Object value, OmittedMembers omitted) {
			if (value == null) {
				this.bytes.tag('0');
				return;
			}
			if (this.path.size() > MAX_DEPTH) {
				throw refused("it contains itself, or has more than " + MAX_DEPTH + " levels");
			}
			write(declared, value, omitted);
		}

		private void write(Type declared, Object value, OmittedMembers omitted) {
			ClassForm form = CanonicalValues.this.classes.get(value.getClass());
			if (form.scalar() != null) {
				if (this.exact && value instanceof Number) {
					writeClass(declared, value.getClass());
				}
				form.scalar().accept(this.bytes, value);
			}
			else if (form.form() != null) {
				writeForm(form.form(), value, omitted);
			}
			else if (value instanceof Enum<?> constant && form.obstacle() == null) {
				this.bytes.tag('e');
				writeClass(declared, constant.getDeclaringClass());
				this.bytes.text(constant.name());
			}
			else if (form.container() && value instanceof CharSequence text) {
				this.bytes.text(stringOf(text));
			}
			else if (!form.container() || !writeContainer(declared, value, omitted)) {
				writeMembers(declared, value, form, omitted);
			}
		}

		/**
		 * A class need not override {@code toString()}.
		 */
		private static String stringOf(CharSequence text) {
			char[] characters = new char[text.length()];
			for (int i = 0; i < characters.length; i++) {
				characters[i] = text.charAt(i);
			}
			return new String(characters);
		}

		private void writeForm(CanonicalForm<?> form, Object value, OmittedMembers omitted) {
			Object canonical = canonical(form, value);
			if (canonical == null || CanonicalValues.this.classes.get(canonical.getClass()).form() == form) {
				throw refused("its CanonicalForm, the bean for " + form.type().getName()
						+ ", returned null or a value that needs the same form");
			}
			this.bytes.tag('f');
			this.bytes.text(form.type().getName());
			boolean outer = this.exact;
			this.exact = false;
			at("", Object.class, canonical, omitted);
			this.exact = outer;
		}

		/**
		 * Writes a value that consists of others in a way that its class defines.
		 * @return {@code false} if it does not
		 */
		private boolean writeContainer(Type declared, Object value, OmittedMembers omitted) {
			Class<?> type = value.getClass();
			if (type.isArray()) {
				writeArray(declared, value, omitted);
			}
			else if (KnownTypes.isOptional(type)) {
				this.bytes.tag('p');
				at("", argument(declared, 0, 1), contentOf(value), omitted);
			}
			else if (value instanceof Map || value instanceof Collection) {
				if (KnownTypes.isLazy(type) && !(this.exact && KnownTypes.isLoaded(value))) {
					throw refused(KnownTypes.nameOf(type) + " loads its elements when it is read");
				}
				if (value instanceof Map<?, ?> map) {
					writeMap(declared, map, omitted);
				}
				else {
					writeCollection(declared, (Collection<?>) value, omitted);
				}
			}
			else if (value instanceof Map.Entry<?, ?> entry) {
				this.bytes.tag('k');
				member("key", argument(declared, 0, 2), entry.getKey(), omitted);
				member("value", argument(declared, 1, 2), entry.getValue(), omitted);
			}
			else {
				return false;
			}
			return true;
		}

		private static @Nullable Object contentOf(Object optional) {
			if (KnownTypes.isEmpty(optional)) {
				return null;
			}
			if (optional instanceof Optional<?> content) {
				return content.get();
			}
			return (optional instanceof OptionalInt number) ? (Object) number.getAsInt()
					: (optional instanceof OptionalLong number) ? (Object) number.getAsLong()
							: ((OptionalDouble) optional).getAsDouble();
		}

		private void writeArray(Type declared, Object array, OmittedMembers omitted) {
			Type component = component(declared);
			int length = Array.getLength(array);
			this.bytes.tag('a');
			writeClass(declared, array.getClass());
			this.bytes.int32(length);
			for (int i = 0; i < length; i++) {
				member(i, component, Array.get(array, i), omitted);
			}
		}

		private void writeCollection(Type declared, Collection<?> elements, OmittedMembers omitted) {
			Type element = argument(declared, 0, 1);
			boolean set = elements instanceof Set;
			// What is read for any collection is a list.
			if (elements instanceof List || (this.exact && (!set || rawType(declared) == Collection.class))
					|| (elements instanceof Queue && !KnownTypes.hasOwnOrder(elements))) {
				this.bytes.tag('l');
				int index = 0;
				for (Object value : elements) {
					member(index++, element, value, omitted);
				}
				this.bytes.tag('.');
				return;
			}
			this.bytes.tag(set ? 'h' : 'q');
			List<byte[]> sorted = new ArrayList<>();
			for (Object value : elements) {
				sorted.add(apart(() -> member("", element, value, omitted)));
			}
			sorted.sort(Arrays::compareUnsigned);
			writeAll(sorted);
		}

		private void writeMap(Type declared, Map<?, ?> map, OmittedMembers omitted) {
			Type keyType = argument(declared, 0, 2);
			Type valueType = argument(declared, 1, 2);
			List<byte[]> sorted = new ArrayList<>();
			for (Map.Entry<?, ?> entry : map.entrySet()) {
				String name = (entry.getKey() instanceof Number || entry.getKey() instanceof Enum<?>
						|| entry.getKey() instanceof CharSequence) ? entry.getKey().toString() : "";
				OmittedMembers below = omitted.in(name);
				if (below != null) {
					sorted.add(apart(() -> {
						member("", keyType, entry.getKey(), OmittedMembers.NONE);
						at("", valueType, entry.getValue(), below);
					}));
				}
			}
			sorted.sort(Arrays::compareUnsigned);
			this.bytes.tag('m');
			writeAll(sorted);
		}

		private void writeAll(List<byte[]> elements) {
			this.bytes.int32(elements.size());
			this.path.addLast("");
			for (byte[] element : elements) {
				int start = this.bytes.length();
				this.bytes.raw(element);
				locate(start);
			}
			this.path.removeLast();
		}

		private void writeMembers(Type declared, Object value, ClassForm form, OmittedMembers omitted) {
			Class<?> type = value.getClass();
			String obstacle = form.obstacle(this.exact);
			if (obstacle != null && !(form.isMarker() && isNamed(declared, type))) {
				throw refused(KnownTypes.nameOf(type) + " " + obstacle);
			}
			if (this.key && form.isChangeable()) {
				throw refused(KnownTypes.nameOf(type) + " " + CHANGEABLE);
			}
			Integer above = this.exact ? this.open.putIfAbsent(value, this.open.size()) : null;
			if (above != null) {
				this.bytes.tag('r');
				this.bytes.int32(above);
				return;
			}
			this.bytes.tag('o');
			writeClass(declared, type);
			for (Member member : form.members()) {
				Object content = member.valueIn(value);
				OmittedMembers below = omitted.isEmpty() ? omitted : omitted.in(member.name());
				if (below != null && !isLeftOut(member.field().getType(), content)) {
					int start = this.bytes.length();
					this.bytes.raw(member.nameBytes());
					at(member.name(), member.type(), content, below, start);
				}
			}
			this.bytes.tag('.');
			this.open.remove(value);
		}

		/**
		 * Returns whether the class of a value tells it apart from others of its declared
		 * type. A key must not be the same for all calls.
		 */
		private boolean isNamed(Type declared, Class<?> type) {
			return rawType(declared) != type && !(this.key && this.path.isEmpty());
		}

		/**
		 * Writes the name of a class that does not follow from the declared type.
		 */
		private void writeClass(Type declared, Class<?> type) {
			Class<?> expected = rawType(declared);
			if (expected != type && !expected.isPrimitive()) {
				this.bytes.tag('c');
				this.bytes.text(type.getName());
			}
		}

		private byte[] apart(Runnable writing) {
			CanonicalBytes outer = this.bytes;
			this.bytes = new CanonicalBytes();
			try {
				writing.run();
				return this.bytes.toBytes();
			}
			finally {
				this.bytes = outer;
			}
		}

		private void member(Object name, Type declared, @Nullable Object value, OmittedMembers omitted) {
			OmittedMembers below = omitted.isEmpty() ? omitted : omitted.in(name.toString());
			if (below != null) {
				at(name, declared, value, below);
			}
		}

		private void at(Object name, Type declared, @Nullable Object value, OmittedMembers omitted) {
			at(name, declared, value, omitted, this.bytes.length());
		}

		private void at(Object name, Type declared, @Nullable Object value, OmittedMembers omitted, int start) {
			this.path.addLast(name);
			encode(declared, value, omitted);
			locate(start);
			this.path.removeLast();
		}

		private void locate(int start) {
			if (this.found == null && this.bytes == this.whole && start <= this.wanted
					&& this.wanted < this.bytes.length()) {
				this.found = place();
			}
		}

		private IncomparableValueException refused(String reason) {
			return new IncomparableValueException(located(reason));
		}

		private String located(String reason) {
			String place = place();
			return (place.isEmpty() ? "" : "at " + place + ": ") + reason;
		}

		private String place() {
			StringBuilder place = new StringBuilder();
			int shown = 0;
			for (Object name : this.path) {
				if (shown++ == MAX_PATH) {
					return place.append("...").toString();
				}
				place.append((name instanceof Integer) ? "[" + name + "]" : name.equals("") ? "[]" : "." + name);
			}
			return place.toString();
		}

	}

}
