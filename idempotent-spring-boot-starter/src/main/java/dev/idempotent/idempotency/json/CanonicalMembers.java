package dev.idempotent.idempotency.json;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The members of all objects that are open, where they are in the text, and their order:
 * that of the UTF-16 code units of their names.
 */
final class CanonicalMembers {

	/**
	 * Up to so many members, as most objects have, are sorted by insertion.
	 */
	private static final int FEW = 16;

	private final CanonicalText text;

	private @Nullable Member[] open = new @Nullable Member[8];

	private int size;

	private byte[] unsorted = new byte[0];

	CanonicalMembers(CanonicalText text) {
		this.text = text;
	}

	int size() {
		return this.size;
	}

	/**
	 * Adds a member, whose name has been appended to the text.
	 * @param start where its name begins
	 * @param plain whether the bytes of its name are in the order of its code units
	 */
	Member add(int start, boolean plain) {
		if (this.size == this.open.length) {
			this.open = Arrays.copyOf(this.open, 2 * this.size);
		}
		Member member = this.open[this.size];
		if (member == null) {
			member = new Member();
			this.open[this.size] = member;
		}
		this.size++;
		member.start = start;
		member.nameEnd = this.text.length();
		member.plain = plain;
		member.prefix = plain ? prefix(start + 1, this.text.length() - 1) : 0;
		member.omitted = false;
		member.name = null;
		return member;
	}

	/**
	 * Sorts the members of the innermost object, which are the end of the text, and
	 * closes it.
	 * @param first the number of members before its own
	 * @throws NotCanonicalException if two of them have the same name
	 */
	void close(int first) {
		if (!isSorted(first)) {
			sort(first);
		}
		this.size = first;
	}

	private boolean isSorted(int first) {
		for (int i = first; i < this.size; i++) {
			Member member = get(i);
			if (!member.plain || member.omitted || (i > first && compare(get(i - 1), member) >= 0)) {
				return false;
			}
		}
		return true;
	}

	private void sort(int first) {
		decodeNames(first);
		int start = get(first).start;
		int length = this.text.length() - start;
		if (this.unsorted.length < length) {
			this.unsorted = new byte[length];
		}
		System.arraycopy(this.text.bytes(), start, this.unsorted, 0, length);
		// Also compares names, which are in the text.
		if (this.size - first <= FEW) {
			sortFew(first);
		}
		else {
			Arrays.sort(this.open, first, this.size, this::compare);
		}
		for (int i = first + 1; i < this.size; i++) {
			if (compare(get(i - 1), get(i)) == 0) {
				throw new NotCanonicalException();
			}
		}
		this.text.truncate(start);
		for (int i = first; i < this.size; i++) {
			append(get(i), start);
		}
	}

	private void sortFew(int first) {
		for (int i = first + 1; i < this.size; i++) {
			Member member = get(i);
			int at = i;
			while (at > first && compare(this.open[at - 1], member) > 0) {
				this.open[at] = this.open[at - 1];
				at--;
			}
			this.open[at] = member;
		}
	}

	private void append(Member member, int start) {
		if (!member.omitted) {
			if (this.text.length() > start) {
				this.text.append(',');
			}
			this.text.append(this.unsorted, member.start - start, member.end - start);
		}
	}

	/**
	 * Decodes all names if the order of their bytes is not that of their code units.
	 */
	private void decodeNames(int first) {
		boolean plain = true;
		for (int i = first; i < this.size; i++) {
			plain &= get(i).plain;
		}
		for (int i = first; i < this.size && !plain; i++) {
			Member member = get(i);
			member.name = CanonicalString.decode(this.text.bytes(), member.start + 1, member.nameEnd - 1);
			member.prefix = 0;
		}
	}

	/**
	 * Returns a number in the order of the first bytes of names, none of which is zero.
	 */
	private long prefix(int start, int end) {
		int length = end - start;
		long prefix = this.text.longAt(start);
		if (length < Long.BYTES) {
			prefix = (length == 0) ? 0 : prefix & (-1L << (Byte.SIZE * (Long.BYTES - length)));
		}
		// Signed numbers are compared.
		return prefix ^ Long.MIN_VALUE;
	}

	private Member get(int index) {
		Member member = this.open[index];
		if (member == null) {
			throw new IllegalStateException("No member was added");
		}
		return member;
	}

	private int compare(@Nullable Member one, @Nullable Member other) {
		if (one == null || other == null) {
			throw new IllegalStateException("No member was added");
		}
		if (one.prefix != other.prefix) {
			return Long.compare(one.prefix, other.prefix);
		}
		if (one.name != null && other.name != null) {
			return one.name.compareTo(other.name);
		}
		byte[] bytes = this.text.bytes();
		return Arrays.compareUnsigned(bytes, one.start + 1, one.nameEnd - 1, bytes, other.start + 1, other.nameEnd - 1);
	}

	/**
	 * A member of an object.
	 */
	static final class Member {

		private int start;

		private int nameEnd;

		private int end;

		private long prefix;

		private boolean plain;

		private boolean omitted;

		private @Nullable String name;

		/**
		 * Records where the value ends.
		 */
		void end(int end, boolean omitted) {
			this.end = end;
			this.omitted = omitted;
		}

	}

}
