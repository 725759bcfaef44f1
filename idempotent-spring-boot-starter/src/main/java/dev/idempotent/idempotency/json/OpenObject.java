package dev.idempotent.idempotency.json;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An object whose members are being appended: records where each begins and whether their
 * names are sorted.
 */
final class OpenObject {

	private final List<Member> members = new ArrayList<>();

	private boolean sorted = true;

	void addMember(String name, int start) {
		if (!this.members.isEmpty() && name.compareTo(this.members.get(this.members.size() - 1).name()) < 0) {
			this.sorted = false;
		}
		this.members.add(new Member(name, start));
	}

	/**
	 * Sorts the members, which are the end of the given text, by the UTF-16 code units of
	 * their names.
	 */
	void sortMembers(StringBuilder text) {
		if (this.sorted) {
			return;
		}
		SortedMap<String, String> sortedMembers = new TreeMap<>();
		int end = text.length();
		for (int i = this.members.size() - 1; i >= 0; i--) {
			Member member = this.members.get(i);
			sortedMembers.put(member.name(), text.substring(member.start(), end));
			end = member.start() - ",".length();
		}
		text.setLength(this.members.get(0).start());
		text.append(String.join(",", sortedMembers.values()));
	}

	private record Member(String name, int start) {

	}

}
