package dev.idempotent.testing;

import java.util.List;

/**
 * Redis servers that an application can be pointed at.
 */
public interface RedisTopology {

	/**
	 * What tells an application where they are, as {@code name=value}.
	 */
	List<String> properties();

}
