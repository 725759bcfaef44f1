package dev.idempotent.idempotency.json;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import tools.jackson.core.JsonPointer;

/**
 * The members to omit of one value of a document: a tree of the segments of pointers, in
 * which each name of the document selects a branch. So the path to a name, which can be
 * as long as the document, is never built.
 */
final class IgnoredMembers {

	static final IgnoredMembers NONE = new IgnoredMembers();

	private final Map<String, IgnoredMembers> branches = new HashMap<>();

	private boolean whole;

	private IgnoredMembers() {
	}

	static IgnoredMembers of(Set<JsonPointer> pointers) {
		IgnoredMembers root = new IgnoredMembers();
		pointers.forEach(root::add);
		return root;
	}

	private void add(JsonPointer pointer) {
		IgnoredMembers branch = this;
		for (JsonPointer rest = pointer; !rest.matches(); rest = rest.tail()) {
			branch = branch.branches.computeIfAbsent(rest.getMatchingProperty(), (segment) -> new IgnoredMembers());
		}
		branch.whole = true;
	}

	/**
	 * Returns whether nothing below the value is omitted.
	 */
	boolean isEmpty() {
		return this.branches.isEmpty();
	}

	/**
	 * Returns whether the member that has the value is omitted.
	 */
	boolean isWhole() {
		return this.whole;
	}

	IgnoredMembers below(String name) {
		return this.branches.getOrDefault(name, NONE);
	}

	IgnoredMembers below(int index) {
		return isEmpty() ? NONE : below(Integer.toString(index));
	}

}
