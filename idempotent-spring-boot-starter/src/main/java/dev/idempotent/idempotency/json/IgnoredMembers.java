package dev.idempotent.idempotency.json;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.TokenStreamContext;

/**
 * Finds the members to omit while a document is parsed. Pointers form a tree of their
 * segments, in which each name of the document selects a branch. So the path to a name,
 * which can be as long as the document, is never built.
 */
final class IgnoredMembers {

	private final Deque<Branch> open = new ArrayDeque<>();

	private Branch next = new Branch();

	IgnoredMembers(Set<JsonPointer> pointers) {
		pointers.forEach(this.next::add);
	}

	/**
	 * Processes the current token of the parser.
	 * @return whether it is the name of a member to omit
	 */
	boolean begins(JsonParser parser) {
		switch (parser.currentToken()) {
			case PROPERTY_NAME -> {
				this.next = this.open.element().below(parser.currentName());
				return this.next.ignored;
			}
			case START_OBJECT, START_ARRAY -> this.open.push(branchOf(parser.streamReadContext().getParent()));
			case END_OBJECT, END_ARRAY -> this.open.pop();
			default -> {
			}
		}
		return false;
	}

	private Branch branchOf(TokenStreamContext parent) {
		return parent.inArray() ? this.open.element().below(parent.getCurrentIndex()) : this.next;
	}

	private static final class Branch {

		private static final Branch NONE = new Branch();

		private final Map<String, Branch> branches = new HashMap<>();

		private boolean ignored;

		void add(JsonPointer pointer) {
			Branch branch = this;
			for (JsonPointer rest = pointer; !rest.matches(); rest = rest.tail()) {
				branch = branch.branches.computeIfAbsent(rest.getMatchingProperty(), (segment) -> new Branch());
			}
			branch.ignored = true;
		}

		Branch below(String name) {
			return this.branches.getOrDefault(name, NONE);
		}

		Branch below(int index) {
			return this.branches.isEmpty() ? NONE : below(Integer.toString(index));
		}

	}

}
