package dev.idempotent.idempotency.canonical;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The members of a class by which its values are compared: the fields of the class and of
 * its superclasses, whatever their visibility and annotations. Those that the language or
 * a tool adds, and {@code transient} ones, are not members.
 */
final class ClassMembers {

	private ClassMembers() {
	}

	/**
	 * Reads a class.
	 * @return its members, sorted by name
	 * @throws IncomparableValueException if a field cannot be read
	 */
	static List<Member> of(Class<?> type) {
		List<Member> members = new ArrayList<>();
		Set<String> names = new HashSet<>();
		for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
			if (KnownTypes.isJdk(each) && fields(each).anyMatch((field) -> !Modifier.isStatic(field.getModifiers()))) {
				throw new IncomparableValueException("it extends " + each.getName() + ", whose state cannot be read");
			}
			if (fields(each).anyMatch((field) -> field.isSynthetic() && !Modifier.isStatic(field.getModifiers())
					&& !Modifier.isTransient(field.getModifiers()))) {
				throw new IncomparableValueException(
						"it is an inner, local or anonymous class that depends on what surrounds it");
			}
			for (Field field : declaredBy(each)) {
				String name = names.add(field.getName()) ? field.getName() : field.getName() + " of " + each.getName();
				members.add(Member.of(name, field));
			}
		}
		members.sort(Comparator.comparing(Member::name));
		return List.copyOf(members);
	}

	/**
	 * Returns whether a class has fields that may or may not count. Fields that a
	 * compiler adds, such as the compiler of Groovy, do not count.
	 */
	static boolean hasTransient(Class<?> type) {
		for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
			if (fields(each).anyMatch((field) -> Modifier.isTransient(field.getModifiers()) && !field.isSynthetic()
					&& !Modifier.isStatic(field.getModifiers()) && !field.getName().startsWith("$"))) {
				return true;
			}
		}
		return false;
	}

	static List<Field> declaredBy(Class<?> type) {
		return fields(type).filter(ClassMembers::isMember).toList();
	}

	private static Stream<Field> fields(Class<?> type) {
		try {
			return Arrays.stream(type.getDeclaredFields());
		}
		catch (LinkageError ex) {
			throw new IncomparableValueException("a field of it has a type that is not on the class path", ex);
		}
	}

	private static boolean isMember(Field field) {
		int modifiers = field.getModifiers();
		return !Modifier.isStatic(modifiers) && !Modifier.isTransient(modifiers) && !field.isSynthetic()
				&& !field.getName().startsWith("$$_");
	}

	/**
	 * A member of a class.
	 *
	 * @param name the name, unique in the class
	 * @param nameBytes the name as it is digested
	 * @param type the declared type
	 * @param field the field
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record Member(String name, byte[] nameBytes, Type type, Field field) {

		static Member of(String name, Field field) {
			try {
				field.setAccessible(true);
			}
			catch (InaccessibleObjectException ex) {
				throw new IncomparableValueException("its module does not open the package of "
						+ KnownTypes.nameOf(field.getDeclaringClass()) + " to this library", ex);
			}
			CanonicalBytes bytes = new CanonicalBytes();
			bytes.text(name);
			return new Member(name, bytes.toBytes(), field.getGenericType(), field);
		}

		@Nullable Object valueIn(Object owner) {
			try {
				return this.field.get(owner);
			}
			catch (IllegalAccessException ex) {
				throw new IllegalStateException("The field was made accessible", ex);
			}
		}

	}

}
