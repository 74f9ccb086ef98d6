// The descriptors of all servers of this process, so that a fork can be rid of them: a child has none of the threads
// that would close its copies, and would hold ports and connections open for as long as it lives.
#pragma once

namespace voxridge {

// Takes a new descriptor into the table, and keeps it from programs that this process starts. False: the table has no
// place for its number.
bool keep_descriptor(int descriptor);
void forget_descriptor(int descriptor);  // to be called before it is closed

// From the first call on, children of a fork close what is in the table: by close() alone, without a lock, and without
// an effect on the connections of the parent.
void close_descriptors_in_children();

int free_descriptors();  // how many more this process may open, as far as the system tells

}  // namespace voxridge
