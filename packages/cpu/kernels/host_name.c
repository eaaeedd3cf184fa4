/* An empty library with the host's name, to link the libraries of the levels with: the host that is
 * loaded already takes its place, so that their calls find it. */
int drystone_cpu_host_name;
