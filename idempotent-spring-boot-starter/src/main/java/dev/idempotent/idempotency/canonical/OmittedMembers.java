package dev.idempotent.idempotency.canonical;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The members of a value that are not compared, as a tree of JSON pointers.
 */
public final class OmittedMembers {

	/**
	 * Omits nothing.
	 */
	public static final OmittedMembers NONE = new OmittedMembers();

	private final Map<String, OmittedMembers> below = new HashMap<>();

	private boolean all;

	private OmittedMembers() {
	}

	/**
	 * Reads JSON pointers.
	 * @param pointers the pointers, which start with a slash
	 * @return the members, to be used for a value that has them
	 */
	public static OmittedMembers of(Collection<String> pointers) {
		OmittedMembers root = new OmittedMembers();
		for (String pointer : pointers) {
			OmittedMembers at = root;
			for (String name : names(pointer)) {
				at = at.below.computeIfAbsent(name, (unused) -> new OmittedMembers());
			}
			at.all = true;
		}
		return root;
	}

	/**
	 * Returns the names that a pointer consists of.
	 * @param pointer a JSON pointer
	 * @return the names, unescaped
	 */
	public static List<String> names(String pointer) {
		return Arrays.stream(pointer.substring(1).split("/", -1))
			.map((name) -> name.replace("~1", "/").replace("~0", "~"))
			.toList();
	}

	/**
	 * Returns what is omitted of a member.
	 * @param name the name of the member
	 * @return the members of that member; {@code null} if it is omitted itself
	 */
	public @Nullable OmittedMembers in(String name) {
		OmittedMembers member = this.below.getOrDefault(name, NONE);
		return member.all ? null : member;
	}

	boolean isEmpty() {
		return this.below.isEmpty();
	}

}
